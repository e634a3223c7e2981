// @ts-check
/** Ways to name a stretch of the past in each language, with the instants they mean on the day of asking. */

/**
 * @typedef {{ text: string, fromMs: number, toMs: number, isWholeDays: boolean }} NamedTime
 */

const HOUR = 3_600_000;

/** @param {Date} now */
function daysOf(now) {
  /** @param {number} back @param {number} hour */
  const at = (back, hour) =>
    new Date(
      now.getFullYear(),
      now.getMonth(),
      now.getDate() - back,
      0,
      Math.round(hour * 60),
    ).getTime();
  const monday = (now.getDay() + 6) % 7;
  /** Working days of the last week but yesterday and today, as [days back, day of week]. */
  const workdays = [2, 3, 4, 5, 6]
    .map((back) => /** @type {const} */ ([back, new Date(at(back, 12)).getDay()]))
    .filter(([, day]) => day > 0 && day < 6);
  return { at, monday, workdays, nowMs: now.getTime() };
}

/**
 * @param {{ names: readonly string[], today: string, morningToday: string, yesterday: string, yesterdayMorning: string,
 *   yesterdayAfternoon: string, lastHour: string, lastMinutes: string, week: string, days: string,
 *   on: readonly string[], morning: string, around: string, between: string, clock: (hour: number) => string }} words
 * @returns {(now: Date, chance: () => number) => NamedTime[]}
 */
function named(words) {
  return (now, chance) => {
    const { at, monday, workdays, nowMs } = daysOf(now);
    /** @param {string} text @param {number} fromMs @param {number} toMs @param {boolean} [isWholeDays] */
    const time = (text, fromMs, toMs, isWholeDays = false) => ({ text, fromMs, toMs, isWholeDays });
    const times = [
      time(words.today, at(0, 0), nowMs, true),
      time(words.morningToday, at(0, 6), at(0, 12)),
      time(words.yesterday, at(1, 0), at(0, 0), true),
      time(words.yesterdayMorning, at(1, 6), at(1, 12)),
      time(words.yesterdayAfternoon, at(1, 12), at(1, 18)),
      time(words.lastHour, nowMs - HOUR, nowMs),
      time(words.lastMinutes, nowMs - HOUR / 2, nowMs),
      time(words.week, at(monday, 0), nowMs, true),
      time(words.days, at(3, 0), nowMs),
    ];
    for (const [back, weekday] of workdays) {
      const name = words.names[weekday] ?? "";
      const on = words.on[Math.floor(chance() * words.on.length)] ?? "";
      times.push(time(on.replace("{D}", name), at(back, 0), at(back, 24)));
      times.push(time(words.morning.replace("{D}", name), at(back, 6), at(back, 12)));
      const hour = 9 + Math.floor(chance() * 7);
      /** @param {string} pattern */
      const fill = (pattern) =>
        pattern
          .replace("{D}", name)
          .replace("{H}", words.clock(hour))
          .replace("{I}", words.clock(hour + 1));
      times.push(time(fill(words.around), at(back, hour - 0.5), at(back, hour + 0.5)));
      times.push(time(fill(words.between), at(back, hour), at(back, hour + 1)));
    }
    return times;
  };
}

/** @type {Record<"en" | "de" | "es" | "fr", (now: Date, chance: () => number) => NamedTime[]>} */
export const TIMES = {
  en: named({
    names: ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
    today: "today",
    morningToday: "this morning",
    yesterday: "yesterday",
    yesterdayMorning: "yesterday morning",
    yesterdayAfternoon: "yesterday afternoon",
    lastHour: "in the last hour",
    lastMinutes: "over the past half hour",
    week: "this week",
    days: "in the last three days",
    on: ["on {D}", "last {D}"],
    morning: "{D} morning",
    around: "around {H} on {D}",
    between: "between {H} and {I} on {D}",
    clock: (hour) =>
      hour === 12 ? "noon" : `${hour > 12 ? hour - 12 : hour}${hour > 12 ? "pm" : "am"}`,
  }),
  de: named({
    names: ["Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"],
    today: "heute",
    morningToday: "heute Vormittag",
    yesterday: "gestern",
    yesterdayMorning: "gestern Vormittag",
    yesterdayAfternoon: "gestern Nachmittag",
    lastHour: "in der letzten Stunde",
    lastMinutes: "in den letzten 30 Minuten",
    week: "diese Woche",
    days: "in den letzten drei Tagen",
    on: ["am {D}", "letzten {D}"],
    morning: "am {D}vormittag",
    around: "am {D} gegen {H} Uhr",
    between: "am {D} zwischen {H} und {I} Uhr",
    clock: String,
  }),
  es: named({
    names: ["domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"],
    today: "hoy",
    morningToday: "esta mañana",
    yesterday: "ayer",
    yesterdayMorning: "ayer por la mañana",
    yesterdayAfternoon: "ayer por la tarde",
    lastHour: "en la última hora",
    lastMinutes: "en los últimos 30 minutos",
    week: "esta semana",
    days: "en los últimos tres días",
    on: ["el {D}", "el {D} pasado"],
    morning: "el {D} por la mañana",
    around: "el {D} sobre las {H}",
    between: "el {D} entre las {H} y las {I}",
    clock: String,
  }),
  fr: named({
    names: ["dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"],
    today: "aujourd'hui",
    morningToday: "ce matin",
    yesterday: "hier",
    yesterdayMorning: "hier matin",
    yesterdayAfternoon: "hier après-midi",
    lastHour: "dans la dernière heure",
    lastMinutes: "ces 30 dernières minutes",
    week: "cette semaine",
    days: "ces trois derniers jours",
    on: ["{D}", "{D} dernier"],
    morning: "{D} matin",
    around: "{D} vers {H} h",
    between: "{D} entre {H} h et {I} h",
    clock: String,
  }),
};
