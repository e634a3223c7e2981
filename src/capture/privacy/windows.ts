/**
 * Knows how browsers mark private windows in their titles. It promises a positive signal only: "marked" is
 * final, no mark means nothing for a browser that sets none.
 */

import { foldText } from "./readings.ts";

/**
 * What the title of a browser says of private browsing. `marked`: private windows carry a mark, so that a
 * title without one is not private. `unmarked`: on some desktops the browser sets no mark, so that without
 * a browser extension nobody can know. `always`: every window of it is private. Null: not a browser.
 */
export type PrivateMarking = "marked" | "unmarked" | "always" | null;

/**
 * How the browser behind an application marks its private windows. `names`: all that the application goes by, its
 * executable too, since the owner may have given the window a class of their own.
 */
export function readPrivateMarking(...names: readonly string[]): PrivateMarking {
  const isNamed = (pattern: RegExp) => names.some((name) => pattern.test(name.toLowerCase()));
  if (isNamed(ALWAYS_PRIVATE)) return "always";
  if (isNamed(MARKED_BROWSER)) return "marked";
  return isNamed(UNMARKED_BROWSER) ? "unmarked" : null;
}

/**
 * Whether the folded title of a window carries the mark of a private one. Browsers put the mark behind the title of
 * the page: in brackets at the end, as a segment of its own or within the browser's name; a page or a song that
 * merely speaks of it is not taken for one. `browser`: how the window's application marks them.
 */
export function isPrivateTitle(browser: PrivateMarking, title: string): boolean {
  // A page may be titled with a megabyte of text: the mark stands behind it.
  const tail = title.slice(-MARK_REACH).toLowerCase();
  if (browser === "always") return true;
  const segments = tail.split(/\s[-\u2013\u2014|:]\s|\s?[\u2014|]\s?/);
  const last = segments.at(-1) ?? "";
  // Firefox names itself behind every page, and says something beside its name when the window is private: whatever
  // that is, and in whatever language.
  if (browser === "marked" && segments.length > 1 && FIREFOX.test(last) && !isBrand(last))
    return true;
  if (!MARK_WORD.test(tail)) return false;
  // A page without a title leaves the browser's name alone.
  if ((segments.length > 1 || browser !== null) && isBrandWithMark(last)) return true;
  // Of what is no browser that is known, the mark alone says nothing: files and songs are called "incognito" too.
  if (browser === null) return false;
  if (BRACKETED_AT_END.test(tail) || NEW_PRIVATE_TAB.test(title.slice(0, MARK_REACH))) return true;
  const bracketed = BRACKETED_BEFORE_BRAND.exec(tail);
  if (bracketed !== null && isBrand(bracketed[1] ?? "")) return true;
  const beforeLast = segments.at(-2) ?? "";
  return (
    (segments.length > 1 && SEGMENT_WITH_MARK.test(last)) ||
    SEGMENT_IS_MARK.test(last) ||
    (isBrand(beforeLast) && SEGMENT_IS_ANY_MARK.test(last)) ||
    (segments.length > 2 && isBrand(last) && SEGMENT_IS_ANY_MARK.test(beforeLast))
  );
}

/** A browser's name and its mark, the longest known with room to spare, in UTF-16 units. */
const MARK_REACH = 240;

/** Whole words of a name: an "operator" is no Opera. */
function named(...words: readonly string[]): RegExp {
  return new RegExp(`(?<![a-z])(?:${words.join("|")})(?![a-z])`);
}

const ALWAYS_PRIVATE = named(
  "tor[ -]?browser",
  "mullvad[ -]?browser",
  "firefox[ -]?(?:focus|klar)",
);

// Firefox and what is built on it carry the mark on every desktop, and so do Edge and GNOME Web.
const MARKED_BROWSER = new RegExp(
  [
    // What else comes from Mozilla, such as its mail program, is no browser.
    named(
      "firefox[a-z]*|librewolf|waterfox[a-z]*|floorp|zen(?:[ -]?browser)?|pale ?moon|icecat|seamonkey",
      "basilisk|abrowser|(?:ms|microsoft[ -])?edge|epiphany|gnome web|falkon",
    ).source,
    "^(?:mozilla|nightly)$",
  ].join("|"),
);

const UNMARKED_BROWSER = named(
  "(?:google)?chrom(?:e|ium)|brave(?:browser)?|opera(?:gx)?|vivaldi|yandex(?:browser)?|safari|thorium",
  "iridium|whale|duckduckgo|arc|min|konqueror|qutebrowser|midori|orion|nyxt|surf|luakit|samsung internet",
  "maxthon|coccoc|slimjet|web[ -]?browser|helium|comet|cromite|supermium|otter[ -]?browser|dooble|ladybird",
);

/**
 * The words of the mark as browsers translate them, lower case: Firefox ("Private Browsing"), Chromium
 * ("Incognito"), Edge ("InPrivate"), Brave and Opera ("Private"), Vivaldi ("Private Window").
 */
const MARK_WORDS = [
  // English
  "private browsing( mode)?|private window( with tor)?|private with tor|private mode",
  "incognito( mode| window)?|inprivate",
  // German, Dutch, Danish, Norwegian, Swedish, Icelandic
  "privater modus|privates fenster|privates surfen|privater tab",
  "inkognito(-?modus|-?fenster)?|privénavigatie|privévenster|privémodus|privat browsing",
  "privat vindue|privat nettlesing|privat vindu|privat surfning|privat fönster",
  "privat surfläge|inkognitoläge|inkognitotilstand|huliðsvafur|einkavafur",
  // French, Spanish, Catalan, Galician, Italian, Portuguese, Romanian
  "navigation privée|fenêtre privée|mode privé|navegación privada|ventana privada",
  "incógnito|navegació privada|finestra privada|incògnit|navigazione anonima",
  "finestra anonima|navigazione in incognito|navegação privativa|navegação privada",
  "navegação anônima|navegação anónima|janela privativa|janela privada|navigare privată",
  "fereastră privată",
  // Polish, Czech, Slovak, Slovenian, Croatian, Serbian, Bulgarian, Russian, Ukrainian, Belarusian
  "tryb prywatny|przeglądanie prywatne|okno prywatne|anonymní prohlížení|anonymní okno",
  "anonymní režim|anonymní|súkromné prehliadanie|súkromné okno|režim inkognito",
  "zasebno brskanje|zasebno okno|brez beleženja zgodovine|privatno pregledavanje",
  "privatno pretraživanje|privatni prozor|anonimni prozor|приватно прегледање",
  "поверително разглеждане|приватный просмотр|приватное окно|приватный режим|инкогнито",
  "приватний перегляд|приватне вікно|анонімний перегляд|прыватнае агляданне",
  // Finnish, Estonian, Latvian, Lithuanian, Hungarian, Greek, Turkish
  "yksityinen selaus|yksityinen ikkuna|incognito-tila|privaatne veebilehitsemine",
  "privaatne sirvimine|privātā pārlūkošana|inkognito režīms|privatusis naršymas",
  "privatús naršymas|privát böngészés|privát ablak|inkognitó( mód)?|ιδιωτική περιήγηση",
  "ανώνυμη περιήγηση|gizli gezinti|gizli pencere|gizli mod",
  // Arabic, Hebrew, Persian, Hindi, Indonesian, Malay, Vietnamese, Thai
  "تصفح خاص|التصفح الخاص|التصفح المتخفي|التصفُّح المتخفّي|גלישה פרטית|גלישה בסתר",
  "חלון פרטי|مرور خصوصی|مرور ناشناس|निजी ब्राउज़िंग|penjelajahan pribadi|mode penyamaran",
  "penyemakan peribadi|duyệt web riêng tư|duyệt riêng tư|การเรียกดูเว็บแบบส่วนตัว",
  "ไม่ระบุตัวตน",
  // Chinese, Japanese, Korean
  "隐私浏览|隐私窗口|无痕浏览|无痕模式|无痕式|隱私瀏覽|隱私視窗|無痕式視窗|無痕模式|プライベートブラウジング|プライベートウィンドウ|シークレット( ?モード)?",
  "사생활 보호 모드|시크릿( ?모드| ?창)?",
  // What else Firefox is translated to, as its own language packs have it
  "məxfi səyahət|поверително сърфиране|ব্যক্তিগত ব্রাউজিং|merdeiñ prevez|privatno pregledanje|pori preifat",
  "ichinan okem pa k'amaya'l|priwatny modus|privata retumo|nabigatze pribatua|navigazion privade",
  "priveenavigaasje|brabhsadh prìobhaideach|kundaha ñemi|գաղտնի դիտարկում|navigation private",
  "meramban privat|პირადი თვალიერება|tunigin tusligt|жекелік шолу|navegaçion privâ|pelayaran peribadi",
  "navegacion privada|ਪ੍ਰਾਈਵੇਟ ਬਰਾਊਜ਼ਿੰਗ|modus privat|ᱯᱨᱟᱭᱣᱮᱴ ᱵᱽᱨᱟᱣᱩᱡᱤᱝ|navigatzione privada|نجی براؤزنگ",
  "shfletim privat|అంతరంగిక విహరణ|ఆంతరంగిక విహారణ|тамошобинии (?:махфӣ|хусусии|хусусӣ)",
  "การท่องเว็บแบบส่วนตัว|การเรียกดูแบบส่วนตัว|隱私瀏覽模式",
].join("|");

/** Marks that are also ordinary words: they count only in the title of a browser. */
const BARE_MARKS = "private|gizli|samaran|ẩn danh|anonimno|anónima|anônima|無痕|गुप्त|in incognito";

// Titles are compared folded, so that the words must be.
const MARKS = foldText(MARK_WORDS);
const MARK = `(?:${MARKS}|${BARE_MARKS})`;
const MARK_WORD = new RegExp(MARK);
const OPEN = "[([\\u3010\\uff08\\u300c]";
const CLOSE = "[)\\]\\u3011\\uff09\\u300d]";
const BRACKETED_AT_END = new RegExp(`${OPEN}\\s?${MARK}\\s?${CLOSE}\\s*$`);
const BRACKETED_BEFORE_BRAND = new RegExp(`${OPEN}\\s?(?:${MARKS})\\s?${CLOSE}([^)\\]]{1,60})$`);
/** Names of browsers, as they stand beside the mark. */
const BRAND =
  /mozilla|firefox|nightly|developer edition|librewolf|waterfox|floorp|\bzen\b|google|chrome|chromium|brave|opera|vivaldi|microsoft|\bedge\b|safari|falkon|seamonkey|yandex|яндекс|браузер|epiphany|gnome web|pale moon/g;
/** The names of browsers that have nothing but their name behind an ordinary page. */
const FIREFOX = /mozilla firefox|firefox (?:developer edition|nightly)|librewolf/;

/** A browser's name, its channel, and hardly more. */
function isBrand(segment: string): boolean {
  const withoutBrand = segment.replace(BRAND, "");
  if (withoutBrand === segment) return false;
  return (
    withoutBrand.replace(/\b(?:beta|dev|canary|stable|esr|gx|browser)\b|[^\p{L}\p{N}]/gu, "") === ""
  );
}

/** What may stand between the two: "de", "in", "в", "في", a bracket or a dash. */
const MAX_JOINT_UNITS = 8;

/** "Mozilla Firefox Private Browsing", "Navigation privée de Mozilla Firefox": a mark, a browser's name, hardly more. */
function isBrandWithMark(segment: string): boolean {
  const withoutBrand = segment.replace(BRAND, "");
  if (withoutBrand === segment) return false;
  const withoutMark = withoutBrand.replace(MARK_WORD, "");
  return withoutMark !== withoutBrand && withoutMark.replace(/\s/g, "").length <= MAX_JOINT_UNITS;
}

const SEGMENT_IS_MARK = new RegExp(`^\\s*${OPEN}?(?:${MARKS})${CLOSE}?\\s*$`);
const SEGMENT_IS_ANY_MARK = new RegExp(`^\\s*${OPEN}?${MARK}${CLOSE}?\\s*$`);
const SEGMENT_WITH_MARK = /(?:^|\s)(?:private browsing|inprivate|incognito)\s*$/;
/** What the first page of a private window is called. */
const NEW_PRIVATE_TAB =
  /^(?:new (?:incognito|inprivate|private) (?:tab|window)|neuer (?:inkognito|inprivate)[ -]tab|nouvel onglet (?:de navigation privée|inprivate)|nueva pestaña de incógnito|nuova scheda in incognito|nova guia anônima|новая вкладка инкогнито|新しいシークレット タブ|打开新的无痕式标签页)/i;
