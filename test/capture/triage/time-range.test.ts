import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTimes } from "../../../src/capture/triage/time-range.ts";
import type { TurnLanguage } from "../../../src/capture/triage/turn/reading.ts";
import { tokenizeTurn } from "../../../src/capture/triage/turn/tokens.ts";

/** Friday 27 November 2026, 16:12 on the wall of the zone. */
const FRIDAY: Readonly<Record<string, string>> = {
  "Europe/Berlin": "2026-11-27T16:12:00+01:00",
  "America/New_York": "2026-11-27T16:12:00-05:00",
  "Asia/Kolkata": "2026-11-27T16:12:00+05:30",
};

function find(turn: string, language: TurnLanguage, now: string, timeZone: string) {
  return readTimes(turn, tokenizeTurn(turn), language, Date.parse(now) * 1000, timeZone).times;
}

/** "Wed 25 08:30 → Wed 25 09:30" for every time found. */
function spans(turn: string, language: TurnLanguage, now: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    month: "short",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  const show = (us: number): string => format.format(us / 1000).replace(",", "");
  return find(turn, language, now, timeZone)
    .map(({ fromUs, toUs }) => `${show(fromUs)} → ${show(toUs)}`)
    .join("; ");
}

const DAY = (day: string): string => {
  const next = String(Number(day) + 1).padStart(2, "0");
  return `${day} Nov 00:00 → ${next} Nov 00:00`;
};

const NOW_END = "27 Nov 16:12";

const ENGLISH: readonly (readonly [string, string])[] = [
  ["what was i doing 20 minutes ago", "27 Nov 15:45 → 27 Nov 15:58"],
  ["half an hour ago", "27 Nov 15:32 → 27 Nov 15:52"],
  ["what did I do in the last hour", `27 Nov 15:12 → ${NOW_END}`],
  ["past 30 minutes", `27 Nov 15:42 → ${NOW_END}`],
  ["the last half hour", `27 Nov 15:42 → ${NOW_END}`],
  ["a couple of hours ago", "27 Nov 13:32 → 27 Nov 14:52"],
  ["over the last 3 days", `24 Nov 00:00 → ${NOW_END}`],
  ["so far this week", `23 Nov 00:00 → ${NOW_END}`],
  ["on Friday", DAY("20")],
  ["last Wednesday what was that", DAY("25")],
  ["on wednesday around 9am", "25 Nov 08:30 → 25 Nov 09:30"],
  ["around 9am on wednesday", "25 Nov 08:30 → 25 Nov 09:30"],
  ["between 2 and 4pm yesterday", "26 Nov 14:00 → 26 Nov 16:00"],
  ["yesterday between 2 and 4", "26 Nov 14:00 → 26 Nov 16:00"],
  ["between 11 and 12pm on tuesday", "24 Nov 11:00 → 24 Nov 12:00"],
  ["2 to 4 yesterday", "26 Nov 14:00 → 26 Nov 16:00"],
  ["what did i do 2-4pm", "27 Nov 14:00 → 27 Nov 16:00"],
  ["from 9 to 5 on monday", "23 Nov 09:00 → 23 Nov 17:00"],
  ["yesteday mornign", "26 Nov 06:00 → 26 Nov 12:00"],
  ["tuesady afternoon", "24 Nov 12:00 → 24 Nov 18:00"],
  ["wensday", DAY("25")],
  ["last night", "26 Nov 18:00 → 27 Nov 04:00"],
  ["the day before yesterday", DAY("25")],
  ["at 3", "27 Nov 14:30 → 27 Nov 15:30"],
  ["at half past three", "27 Nov 15:15 → 27 Nov 15:45"],
  ["at quarter to nine", "27 Nov 08:30 → 27 Nov 09:00"],
  ["ten thirty this morning", "27 Nov 10:15 → 27 Nov 10:45"],
  ["3 in the afternoon", "27 Nov 14:30 → 27 Nov 15:30"],
  ["a week ago Tuesday", DAY("17")],
  ["tuesday last week", DAY("17")],
  ["two weeks ago", "09 Nov 00:00 → 16 Nov 00:00"],
  ["last weekend", "21 Nov 00:00 → 23 Nov 00:00"],
  ["this month", `01 Nov 00:00 → ${NOW_END}`],
  ["since Monday", `23 Nov 00:00 → ${NOW_END}`],
  ["before 10", "27 Nov 00:00 → 27 Nov 10:00"],
  ["right before noon", "27 Nov 11:30 → 27 Nov 12:00"],
  ["after 5pm yesterday", "26 Nov 17:00 → 27 Nov 00:00"],
  ["the 12th", DAY("12")],
  ["12 Nov", DAY("12")],
  ["Nov 12, 2026", DAY("12")],
  ["2026-11-12", DAY("12")],
  ["12/11", DAY("12")],
  ["11/12", DAY("12")],
  ["on the twelfth", DAY("12")],
  ["from monday to wednesday", "23 Nov 00:00 → 26 Nov 00:00"],
  ["3 days ago around 4pm", "24 Nov 15:30 → 24 Nov 16:30"],
  ["early this morning", "27 Nov 05:00 → 27 Nov 09:00"],
  ["late yesterday", "26 Nov 18:00 → 27 Nov 00:00"],
  ["half ten this morning", "27 Nov 10:15 → 27 Nov 10:45"],
  ["the night before last", "25 Nov 18:00 → 26 Nov 04:00"],
  ["a fortnight ago", "09 Nov 00:00 → 16 Nov 00:00"],
  ["two tuesdays ago", DAY("17")],
  ["last week's tuesday", DAY("17")],
  ["a week ago yesterday", DAY("19")],
  ["start of the week", "23 Nov 00:00 → 26 Nov 00:00"],
  ["an hour or so ago", "27 Nov 14:52 → 27 Nov 15:32"],
  ["in the middle of the night", "27 Nov 00:00 → 27 Nov 06:00"],
  ["around 1430 yesterday", "26 Nov 14:00 → 26 Nov 15:00"],
  ["all day yesterday", DAY("26")],
  ["the last days", `23 Nov 00:00 → ${NOW_END}`],
  ["around 6", "26 Nov 17:30 → 26 Nov 18:30"],
  ["on the 12th what was I doing", DAY("12")],
  ["what did we do yesterday", DAY("26")],
  ["where did we leave off", ""],
  ["what did I do 3ish", "27 Nov 14:30 → 27 Nov 15:30"],
  ["what was that Tuesday 3ish?", "24 Nov 14:30 → 24 Nov 15:30"],
  ["the week just gone", "16 Nov 00:00 → 23 Nov 00:00"],
  ["the tuesday before last", DAY("17")],
  ["this time yesterday", "26 Nov 15:42 → 26 Nov 16:42"],
  ["same time last week", "20 Nov 15:42 → 20 Nov 16:42"],
  ["around this time two weeks ago", "13 Nov 15:42 → 13 Nov 16:42"],
  ["this time I need the short version", ""],
  ["mid-morning", "27 Nov 09:00 → 27 Nov 11:30"],
  ["mid afternoon yesterday", "26 Nov 13:30 → 26 Nov 16:30"],
  ["mid-November", "10 Nov 00:00 → 22 Nov 00:00"],
  ["in the middle of the week", "24 Nov 00:00 → 27 Nov 00:00"],
  ["the first half of the week", "23 Nov 00:00 → 26 Nov 00:00"],
  ["weds pm", "25 Nov 12:00 → 25 Nov 18:00"],
  ["Thurs a.m.", "26 Nov 06:00 → 26 Nov 12:00"],
  ["what did I do Sat?", DAY("21")],
  ["the cat sat.", ""],
  ["on Monday just before noon", "23 Nov 11:30 → 23 Nov 12:00"],
  ["yesterday from 3 on", "26 Nov 15:00 → 27 Nov 00:00"],
  ["yesterday between noon and 3", "26 Nov 12:00 → 26 Nov 15:00"],
  ["just before close of play yesterday", "26 Nov 16:30 → 26 Nov 17:30"],
  ["in the evening two days ago", "25 Nov 18:00 → 26 Nov 00:00"],
];

const OTHERS: readonly (readonly [TurnLanguage, string, string])[] = [
  ["de", "gestern Nachmittag", "26 Nov 12:00 → 26 Nov 18:00"],
  ["de", "vor einer halben Stunde", "27 Nov 15:32 → 27 Nov 15:52"],
  ["de", "vor 10 uhr", "27 Nov 00:00 → 27 Nov 10:00"],
  ["de", "kurz vor drei", "27 Nov 14:30 → 27 Nov 15:00"],
  ["de", "um halb drei", "27 Nov 14:15 → 27 Nov 14:45"],
  ["de", "fuenf vor halb drei", "27 Nov 14:10 → 27 Nov 14:40"],
  ["de", "am Dienstag um 14 Uhr", "24 Nov 13:30 → 24 Nov 14:30"],
  ["de", "zwischen 14 und 16 Uhr gestern", "26 Nov 14:00 → 26 Nov 16:00"],
  ["de", "letzte Woche Dienstag", DAY("17")],
  ["de", "Dienstag letzter Woche", DAY("17")],
  ["de", "am 12.11.", DAY("12")],
  ["de", "am 12.", DAY("12")],
  ["de", "was hab ich zwischen 2 und 4 gemacht", "27 Nov 14:00 → 27 Nov 16:00"],
  ["de", "was hab ich um 3 gemacht", "27 Nov 14:30 → 27 Nov 15:30"],
  ["de", "was war vor dem mittag", ""],
  ["de", "heute frueh", "27 Nov 06:00 → 27 Nov 12:00"],
  ["de", "vorgestern abend", "25 Nov 18:00 → 26 Nov 00:00"],
  ["de", "Montagnachmittag", "23 Nov 12:00 → 23 Nov 18:00"],
  ["de", "gester nachmitag", "26 Nov 12:00 → 26 Nov 18:00"],
  ["de", "in den letzten 20 minuten", `27 Nov 15:52 → ${NOW_END}`],
  ["de", "am wochenende", "21 Nov 00:00 → 23 Nov 00:00"],
  ["de", "Dienstag vor einer Woche", DAY("17")],
  ["de", "Do 14-15 Uhr", "26 Nov 14:00 → 26 Nov 15:00"],
  ["de", "um ein uhr", "27 Nov 12:30 → 27 Nov 13:30"],
  ["de", "fünf nach acht", "27 Nov 07:50 → 27 Nov 08:20"],
  ["de", "am Samstag früh", "21 Nov 06:00 → 21 Nov 12:00"],
  ["de", "was war am WE", "21 Nov 00:00 → 23 Nov 00:00"],
  ["fr", "ce we", "21 Nov 00:00 → 23 Nov 00:00"],
  ["de", "vorletzten Dienstag", DAY("17")],
  ["de", "vorletztes Wochenende", "14 Nov 00:00 → 16 Nov 00:00"],
  ["de", "vorletzte Woche", "09 Nov 00:00 → 16 Nov 00:00"],
  ["de", "vorletzte Nacht", "25 Nov 20:00 → 26 Nov 06:00"],
  ["de", "gestern um diese Zeit", "26 Nov 15:42 → 26 Nov 16:42"],
  ["de", "letzte Woche um die Zeit", "20 Nov 15:42 → 20 Nov 16:42"],
  ["de", "gestern zur gleichen Zeit", "26 Nov 15:42 → 26 Nov 16:42"],
  ["de", "ich hab um die Zeit geschlafen", ""],
  ["de", "Mitte November", "10 Nov 00:00 → 22 Nov 00:00"],
  ["de", "gestern ab Mittag", "26 Nov 11:30 → 27 Nov 00:00"],
  ["de", "ab 14 Uhr", `27 Nov 14:00 → ${NOW_END}`],
  ["de", "zwischen Mittag und 15 Uhr", "27 Nov 11:30 → 27 Nov 15:00"],
  ["de", "in der Nacht auf Sonntag", "21 Nov 20:00 → 22 Nov 06:00"],
  ["de", "in der Nacht von Samstag auf Sonntag", "21 Nov 20:00 → 22 Nov 06:00"],
  ["de", "gestern kurz vor Feierabend", "26 Nov 16:30 → 26 Nov 17:30"],
  ["de", "Freitag spätabends", "20 Nov 21:00 → 21 Nov 00:00"],
  ["de", "am Dienstag um den Dreh 15 Uhr", "24 Nov 14:30 → 24 Nov 15:30"],
  ["de", "was hab ich am 12. gemacht", DAY("12")],
  ["de", "am Morgen des 12.", "12 Nov 06:00 → 12 Nov 12:00"],
  ["de", "der Fehler am 3. Schreibtisch", ""],
  ["de", "vor ner halben Stunde", "27 Nov 15:32 → 27 Nov 15:52"],
  ["de", "vor ner Stunde", "27 Nov 14:52 → 27 Nov 15:32"],
  ["es", "a la una y media", "27 Nov 13:15 → 27 Nov 13:45"],
  ["es", "el martes de hace dos semanas", DAY("10")],
  ["es", "hace unos minutos", "27 Nov 15:57 → 27 Nov 16:07"],
  ["es", "ayer todo el día", DAY("26")],
  ["es", "a principios de semana", "23 Nov 00:00 → 26 Nov 00:00"],
  ["fr", "ce matin entre 9 et 10", "27 Nov 09:00 → 27 Nov 10:00"],
  ["fr", "toute la journée d'hier", DAY("26")],
  ["fr", "il y a trois quarts d'heure", "27 Nov 15:12 → 27 Nov 15:42"],
  ["fr", "entre 14 h et 15 h 30", "27 Nov 14:00 → 27 Nov 15:30"],
  ["es", "ayer por la tarde", "26 Nov 12:00 → 26 Nov 20:00"],
  ["es", "ayer a las tres y media", "26 Nov 15:15 → 26 Nov 15:45"],
  ["es", "a las nueve menos cuarto", "27 Nov 08:30 → 27 Nov 09:00"],
  ["es", "hace un par de horas", "27 Nov 13:32 → 27 Nov 14:52"],
  ["es", "hace hora y media", "27 Nov 14:12 → 27 Nov 15:12"],
  ["es", "en la ultima hora", `27 Nov 15:12 → ${NOW_END}`],
  ["es", "la semana pasada", "16 Nov 00:00 → 23 Nov 00:00"],
  ["es", "el martes de la semana pasada", DAY("17")],
  ["es", "desde las 9 hasta las 11", "27 Nov 09:00 → 27 Nov 11:00"],
  ["es", "antes de ayer", DAY("25")],
  ["es", "anoche", "26 Nov 18:00 → 27 Nov 04:00"],
  ["es", "el doce de noviembre", DAY("12")],
  ["es", "esta mañana", "27 Nov 06:00 → 27 Nov 12:00"],
  ["es", "manana", ""],
  ["fr", "hier aprem", "26 Nov 12:00 → 26 Nov 18:00"],
  ["fr", "ma journée d'avant-hier", DAY("25")],
  ["fr", "depuis ce midi", `27 Nov 12:00 → ${NOW_END}`],
  ["fr", "hier en fin de journée", "26 Nov 15:30 → 26 Nov 20:00"],
  ["fr", "hier avant-midi", "26 Nov 06:00 → 26 Nov 12:00"],
  ["fr", "hier sur l'heure du midi", "26 Nov 11:30 → 26 Nov 14:00"],
  ["fr", "à matin", "27 Nov 06:00 → 27 Nov 12:00"],
  ["fr", "hier 8h du mat", "26 Nov 07:30 → 26 Nov 08:30"],
  ["fr", "lundi PM", "23 Nov 12:00 → 23 Nov 18:00"],
  ["fr", "mardi midi et quart", "24 Nov 12:00 → 24 Nov 12:30"],
  ["fr", "il y a une couple d'heures", "27 Nov 13:32 → 27 Nov 14:52"],
  ["fr", "il y a septante minutes", "27 Nov 14:38 → 27 Nov 15:25"],
  ["fr", "il y a pas dix minutes", "27 Nov 15:57 → 27 Nov 16:07"],
  ["fr", "mardi 17 j'ai fait quoi", DAY("17")],
  ["fr", "hier à cette heure-ci", "26 Nov 15:42 → 26 Nov 16:42"],
  ["es", "ayer a esta hora", "26 Nov 15:42 → 26 Nov 16:42"],
  ["es", "el lunes de las 3 pm en adelante", "23 Nov 15:00 → 24 Nov 00:00"],
  ["es", "ayer a un cuarto para las tres", "26 Nov 14:30 → 26 Nov 15:00"],
  ["es", "en lo que va de la semana", `23 Nov 00:00 → ${NOW_END}`],
  ["es", "a inicios de la semana", "23 Nov 00:00 → 26 Nov 00:00"],
  ["es", "la semana que pasó", "16 Nov 00:00 → 23 Nov 00:00"],
  ["es", "el martes 17 qué hice", DAY("17")],
  ["es", "ayer al final del día", "26 Nov 15:30 → 26 Nov 20:00"],
  ["fr", "la semaine derniere", "16 Nov 00:00 → 23 Nov 00:00"],
  ["fr", "il y a une heure et demie", "27 Nov 14:12 → 27 Nov 15:12"],
  ["fr", "les deux dernières heures", `27 Nov 14:12 → ${NOW_END}`],
  ["fr", "à 15h30", "27 Nov 15:15 → 27 Nov 15:45"],
  ["fr", "vers trois heures et demie", "27 Nov 15:00 → 27 Nov 16:00"],
  ["fr", "hier entre 14h et 16h", "26 Nov 14:00 → 26 Nov 16:00"],
  ["fr", "mardi de la semaine dernière", DAY("17")],
  ["fr", "avant-hier", DAY("25")],
  ["fr", "d'hier", DAY("26")],
  ["fr", "depuis lundi", `23 Nov 00:00 → ${NOW_END}`],
  ["fr", "le 12", DAY("12")],
  ["fr", "3 heures de l'après-midi", "27 Nov 14:30 → 27 Nov 15:30"],
  // A night that is named by both of its days is one night.
  ["fr", "la nuit de mardi à mercredi", "24 Nov 20:00 → 25 Nov 06:00"],
  ["fr", "dans la nuit du 24 au 25", "24 Nov 20:00 → 25 Nov 06:00"],
  ["es", "la noche del martes al miércoles", "24 Nov 18:00 → 25 Nov 04:00"],
  ["es", "la madrugada del martes al miércoles", "25 Nov 00:00 → 25 Nov 06:00"],
  ["de", "in der Nacht von Dienstag auf Mittwoch", "24 Nov 20:00 → 25 Nov 06:00"],
  ["en", "tuesday night to wednesday", "24 Nov 18:00 → 25 Nov 04:00"],
  // From an hour of a day on: to the end of that day, unless the day itself is what has been since.
  ["fr", "mardi à partir de 15h", "24 Nov 15:00 → 25 Nov 00:00"],
  ["fr", "depuis mardi 15h", `24 Nov 15:00 → ${NOW_END}`],
  ["es", "el martes a partir de las 15", "24 Nov 15:00 → 25 Nov 00:00"],
  ["es", "desde el martes a las 15", `24 Nov 15:00 → ${NOW_END}`],
  ["en", "on tuesday from 3pm", "24 Nov 15:00 → 25 Nov 00:00"],
  ["en", "from 3pm on tuesday", "24 Nov 15:00 → 25 Nov 00:00"],
  ["fr", "à partir de 10h", `27 Nov 10:00 → ${NOW_END}`],
  ["fr", "depuis 8h ce matin", `27 Nov 08:00 → ${NOW_END}`],
  ["fr", "depuis 8 heures", `27 Nov 08:12 → ${NOW_END}`],
  // "de" before an hour says which meeting it was.
  ["fr", "la réunion de 15h", "27 Nov 14:30 → 27 Nov 15:30"],
  ["es", "la llamada de las 3", "27 Nov 14:30 → 27 Nov 15:30"],
  ["fr", "il y a une petite heure", "27 Nov 14:52 → 27 Nov 15:32"],
  ["fr", "il y a 1h30", "27 Nov 14:12 → 27 Nov 15:12"],
  ["fr", "il y a une heure et vingt minutes", "27 Nov 14:25 → 27 Nov 15:18"],
  ["es", "hace unas dos horas", "27 Nov 13:32 → 27 Nov 14:52"],
  ["es", "hace una hora y cuarto", "27 Nov 14:32 → 27 Nov 15:22"],
  ["es", "hace dos jueves", DAY("19")],
  ["es", "los 20 minutos anteriores", `27 Nov 15:52 → ${NOW_END}`],
  ["es", "la mañana del jueves", "26 Nov 06:00 → 26 Nov 12:00"],
  ["es", "toda la mañana", "27 Nov 06:00 → 27 Nov 12:00"],
  ["es", "ayer a media mañana", "26 Nov 09:00 → 26 Nov 11:30"],
  ["fr", "hier en milieu d'après-midi", "26 Nov 13:30 → 26 Nov 16:30"],
  ["fr", "mi-novembre", "10 Nov 00:00 → 22 Nov 00:00"],
  ["fr", "début novembre", "01 Nov 00:00 → 13 Nov 00:00"],
  ["fr", "l'autre semaine", "16 Nov 00:00 → 23 Nov 00:00"],
  ["es", "el jueves de la otra semana", DAY("19")],
  ["fr", "jeudi 19", DAY("19")],
  ["es", "el jueves 19 de noviembre por la tarde", "19 Nov 12:00 → 19 Nov 20:00"],
  ["en", "thursday 19 november", DAY("19")],
  ["fr", "mardi 9 à 11", "24 Nov 09:00 → 24 Nov 11:00"],
  ["fr", "hier à 10h pile", "26 Nov 09:30 → 26 Nov 10:30"],
  ["es", "ayer a las tres y pico", "26 Nov 14:30 → 26 Nov 15:30"],
  ["es", "veinte para las once", "27 Nov 10:25 → 27 Nov 10:55"],
  ["fr", "mardi en huit", ""],
  ["fr", "dans deux heures", ""],
  ["es", "dentro de dos horas", ""],
  // What another language says besides belongs to it.
  ["es", "vendredi de 13h à 15h", "20 Nov 13:00 → 20 Nov 15:00"],
  ["fr", "el martes de 9 a 11", "24 Nov 09:00 → 24 Nov 11:00"],
  ["fr", "avant d'aller manger", ""],
  ["es", "antes de aller", DAY("25")],
  ["es", "ayer x la tarde", "26 Nov 12:00 → 26 Nov 20:00"],
  ["fr", "résume ma semaine", `23 Nov 00:00 → ${NOW_END}`],
  ["fr", "ma journée d'hier", DAY("26")],
  ["es", "resume mi día", `27 Nov 00:00 → ${NOW_END}`],
];

describe.each(Object.entries(FRIDAY))("times of a turn in %s", (timeZone, now) => {
  it.each(ENGLISH)("%s", (turn, expected) => {
    expect(spans(turn, "en", now, timeZone)).toBe(expected);
  });

  it.each(OTHERS)("%s: %s", (language, turn, expected) => {
    expect(spans(turn, language, now, timeZone)).toBe(expected);
  });
});

describe("times of whoever is still up", () => {
  it.each([
    ["fr", "j'ai fait quoi ce soir", "26 Nov 18:00 → 27 Nov 00:00"],
    ["fr", "cet après-midi", "26 Nov 12:00 → 26 Nov 18:00"],
    ["fr", "ce soir à 22h", "26 Nov 21:30 → 26 Nov 22:30"],
    ["es", "¿qué hice esta tarde?", "26 Nov 12:00 → 26 Nov 20:00"],
    ["es", "hoy entre las 20 y las 22", "26 Nov 20:00 → 26 Nov 22:00"],
    ["en", "what did I do today?", "26 Nov 04:00 → 27 Nov 00:40"],
    ["de", "was hab ich heute gemacht", "26 Nov 04:00 → 27 Nov 00:40"],
    ["en", "yesterday", DAY("26")],
    ["en", "this morning", "27 Nov 00:00 → 27 Nov 00:40"],
  ] as const)("%s: %s", (language, turn, expected) => {
    expect(spans(turn, language, "2026-11-27T00:40:00Z", "UTC")).toBe(expected);
  });

  it("are of the new day from four on", () => {
    expect(spans("today", "en", "2026-11-27T04:10:00Z", "UTC")).toBe("27 Nov 00:00 → 27 Nov 04:10");
  });
});

describe("times in languages that are read in part", () => {
  it.each([
    ["cosa stavo facendo ieri pomeriggio", "26 Nov 12:00 → 26 Nov 18:00"],
    ["martedì scorso", DAY("24")],
    ["due ore fa", "27 Nov 13:32 → 27 Nov 14:52"],
    ["mezz'ora fa", "27 Nov 15:32 → 27 Nov 15:52"],
    ["la settimana scorsa", "16 Nov 00:00 → 23 Nov 00:00"],
    ["o que fiz ontem à tarde", "26 Nov 12:00 → 26 Nov 18:00"],
    ["há duas horas", "27 Nov 13:32 → 27 Nov 14:52"],
    ["na terça-feira às 15h", "24 Nov 14:30 → 24 Nov 15:30"],
    ["wat deed ik gistermiddag", "26 Nov 12:00 → 26 Nov 18:00"],
    ["een half uur geleden", "27 Nov 15:32 → 27 Nov 15:52"],
    ["dinsdagochtend", "24 Nov 06:00 → 24 Nov 12:00"],
    ["vorige week", "16 Nov 00:00 → 23 Nov 00:00"],
  ])("%s", (turn, expected) => {
    expect(spans(turn, "other", "2026-11-27T16:12:00Z", "UTC")).toBe(expected);
  });
});

describe("what is not a time", () => {
  it.each([
    "the cat sat on the mat",
    "i may have opened it",
    "how long does it take to boil an egg",
    "what happened in 1848",
    "write 3 to 4 sentences",
    "the last 5 files I opened",
    "what did I do before lunch",
    "tomorrow morning",
    "next week",
    "the 3 musketeers",
    "remind me in 20 minutes",
  ])("%s", (turn) => {
    expect(spans(turn, "en", "2026-11-27T16:12:00Z", "UTC")).toBe("");
  });

  it("a slip that makes another word is left alone", () => {
    expect(spans("the mourning dove", "en", "2026-11-27T16:12:00Z", "UTC")).toBe("");
    expect(spans("die Montage der Regale", "de", "2026-11-27T16:12:00Z", "UTC")).toBe("");
  });
});

describe("times where the clock changes", () => {
  const hours = (turn: string, now: string, timeZone: string): number[] =>
    find(turn, "en", now, timeZone).map(({ fromUs, toUs }) => (toUs - fromUs) / 3_600_000_000);

  it("a day is 25 hours long where the clock goes back and 23 where it goes forward", () => {
    expect(hours("yesterday", "2026-10-26T12:00:00+01:00", "Europe/Berlin")).toEqual([25]);
    expect(hours("yesterday", "2026-03-30T12:00:00+02:00", "Europe/Berlin")).toEqual([23]);
    expect(hours("yesterday", "2026-11-02T12:00:00-05:00", "America/New_York")).toEqual([25]);
    expect(hours("yesterday", "2026-03-09T12:00:00-04:00", "America/New_York")).toEqual([23]);
    expect(hours("yesterday", "2026-04-06T12:00:00+10:30", "Australia/Lord_Howe")).toEqual([24.5]);
  });

  it("the hour that comes twice counts twice, the one that is skipped is empty", () => {
    const back = "2026-10-26T12:00:00+01:00";
    expect(hours("yesterday between 2am and 3am", back, "Europe/Berlin")).toEqual([2]);
    expect(
      hours("yesterday between 2am and 3am", "2026-03-30T12:00:00+02:00", "Europe/Berlin"),
    ).toEqual([]);
  });

  it("the morning after a change is still six to twelve on the wall", () => {
    expect(spans("yesterday morning", "en", "2026-10-26T12:00:00+01:00", "Europe/Berlin")).toBe(
      "25 Oct 06:00 → 25 Oct 12:00",
    );
    expect(spans("yesterday morning", "en", "2026-03-30T12:00:00+02:00", "Europe/Berlin")).toBe(
      "29 Mar 06:00 → 29 Mar 12:00",
    );
  });

  it("hours ago are hours that passed", () => {
    const [mention] = find("3 hours ago", "en", "2026-10-25T04:00:00+01:00", "Europe/Berlin");
    expect(mention?.pointUs).toBe(Date.parse("2026-10-25T01:00:00+02:00") * 1000 + 3_600_000_000);
  });

  it("a day that begins at one o'clock begins there", () => {
    // Cairo sets its clocks forward at midnight.
    const [mention] = find("yesterday", "en", "2026-04-25T12:00:00+03:00", "Africa/Cairo");
    expect(mention?.fromUs).toBe(Date.parse("2026-04-24T01:00:00+03:00") * 1000);
  });
});

describe("laws of times", () => {
  const languages = fc.constantFrom<TurnLanguage>("en", "de", "es", "fr", "other");
  const word = fc.constantFrom(
    ..."yesterday|last|this|between|and|2|4pm|to|at|around|half|past|three|monday|week|ago|20|minutes|the|12th|nov|since|before|after|night|morning|gestern|vor|halb|drei|uhr|heute|morgen|ayer|hace|dos|horas|por|la|tarde|hier|il|y|a|deux|heures|et|demie|12.11.|2026-11-12|14:30|15h30|-|,|.|/|noon|until|from|99|31|feb|tomorrow|next".split(
      "|",
    ),
  );
  const turn = fc.oneof(
    fc.array(word, { maxLength: 14 }).map((words) => words.join(" ")),
    fc.string({ unit: "binary", maxLength: 60 }),
  );
  const zone = fc.constantFrom("Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC");
  const now = fc.date({
    min: new Date("2020-01-01"),
    max: new Date("2035-12-31"),
    noInvalidDate: true,
  });
  const numRuns = Number(
    process.env["ACTIVITYD_PROPERTY_RUNS"] ?? (process.env["CI"] ? 20_000 : 1500),
  );

  it("every time lies in the past, is not empty, and stands in the turn where it says", () => {
    fc.assert(
      fc.property(turn, languages, zone, now, (text, language, timeZone, date) => {
        const nowUs = date.getTime() * 1000;
        const found = readTimes(text, tokenizeTurn(text), language, nowUs, timeZone).times;
        let last = 0;
        for (const mention of found) {
          expect(mention.fromUs).toBeLessThan(mention.toUs);
          expect(mention.toUs).toBeLessThanOrEqual(nowUs);
          expect(Number.isFinite(mention.fromUs)).toBe(true);
          expect(mention.startIndex).toBeGreaterThanOrEqual(last);
          expect(text.slice(mention.startIndex, mention.endIndex)).toBe(mention.text);
          last = mention.endIndex;
        }
      }),
      { numRuns },
    );
  });
});
