/**
 * Tells what kind of thing a document is from its application, title and place: a call, a chat, mail, a
 * page, a file. General knowledge of programs and sites, no one's own words.
 */
import type { HistoryDocument } from "../../store/history.ts";
import { titleParts } from "../titles.ts";

/**
 * `call`: talking with people, live. `chat` and `mail`: written talk. `folder`: a file manager. `terminal`: a
 * shell. `file`: a document with a name of its own. `page`: something with an address, or in a browser.
 */
export type DocumentKind =
  | "call"
  | "chat"
  | "mail"
  | "folder"
  | "terminal"
  | "file"
  | "page"
  | "other";

export function documentKind(document: HistoryDocument): DocumentKind {
  const app = document.app.toLowerCase();
  const title = document.title ?? "";
  const host = (document.place ?? "").split("/")[0]?.toLowerCase() ?? "";
  if (CALL_HOST.test(host) && /\/./.test(document.place ?? "")) return "call";
  if (
    CALL_APP.test(app) &&
    !/^(?:zoom|teams|skype|webex)?(?: workplace| meetings)?$/iu.test(title.trim())
  ) {
    return CHATTY_CALL_APP.test(app) && !CALL_WORD.test(title) ? "chat" : "call";
  }
  if (CHAT_APP.test(app) || CHAT_HOST.test(host)) return CALL_WORD.test(title) ? "call" : "chat";
  if (MAIL_APP.test(app) || MAIL_HOST.test(host)) return "mail";
  if (document.place === null && BROWSER.test(app) && CALL_PAGE.test(title)) return "call";
  if (document.place !== null || BROWSER.test(app)) return "page";
  if (FOLDER_APP.test(app)) return "folder";
  if (TERMINAL_APP.test(app)) return "terminal";
  if (titleParts(document.app, title).file !== null) return "file";
  return "other";
}

const CALL_APP =
  /\bzoom\b|\bteams\b|webex|skype|facetime|jitsi|gotomeeting|bluejeans|whereby|\baround\b/u;
const CHATTY_CALL_APP = /\bteams\b|skype/u;
const CALL_HOST =
  /^(?:meet\.google\.com|meet\.jit\.si|.*\.zoom\.us|zoom\.us|whereby\.com|.*\.webex\.com|.*\.whereby\.com|bbb\..*|.*\.daily\.co)$/u;
/** What a browser shows of a call where nothing tells the page's address: "Meet – Weekly", "Weekly | Jitsi Meet". */
const CALL_PAGE =
  /^meet\s*[-–—:]\s*\S|\s[-–—|]\s(?:jitsi meet|whereby|zoom|google meet)$|(?:call|meeting|r[ée]union|reuni[oó]n|besprechung)\b.*\| microsoft teams$/iu;
const CALL_WORD =
  /\b(?:call|huddle|meeting|video ?call|anruf|videoanruf|besprechung|videokonferenz|llamada|videollamada|videoconferencia|reuni[oó]n|junta|entrevista|appel|r[ée]union|rencontre|entretien|entrevue|visio|visioconf[ée]rence|interview|webinar|webinaire|point (?:avec|hebdo))\b/iu;
const CHAT_APP =
  /slack|discord|telegram|whatsapp|\bsignal\b|element|mattermost|rocket\.?chat|messages|messenger|hexchat|fractal|zulip|threema|wechat|\bline\b/u;
const CHAT_HOST =
  /^(?:app\.slack\.com|.*\.slack\.com|discord\.com|web\.telegram\.org|web\.whatsapp\.com|chat\.google\.com|teams\.microsoft\.com|.*\.zulipchat\.com|messages\.google\.com)$/u;
const MAIL_APP =
  /thunderbird|outlook|evolution|geary|kmail|\bmail\b|mailspring|mutt|airmail|claws/u;
const MAIL_HOST =
  /^(?:mail\..*|outlook\.(?:live|office)\.com|.*\.fastmail\.com|.*\.proton\.me|webmail\..*|.*\.tutanota\.com)$/u;
const BROWSER =
  /firefox|chrom(?:e|ium)|\bedge\b|msedge|safari|brave|vivaldi|opera|librewolf|zen|epiphany|falkon|navigator|qutebrowser/u;
const BROWSER_APP = new RegExp(BROWSER, "iu");
const FOLDER_APP = /nautilus|dolphin|thunar|nemo|caja|pcmanfm|finder|explorer|\bfiles\b|krusader/u;
const TERMINAL_APP =
  /terminal|konsole|kitty|alacritty|wezterm|ghostty|foot|xterm|urxvt|tilix|terminator|iterm|\bst\b|rio|warp|powershell|cmd\.exe|windows ?terminal/u;

/** Which of folded words name a medium, alone or two in a row ("social media"). */
export function mediumWords(words: readonly string[]): readonly boolean[] {
  const isName = (text: string): boolean => MEDIA.some(({ names }) => names.test(text));
  const isPair = (at: number): boolean => isName(`${words[at] ?? ""} ${words[at + 1] ?? ""}`);
  return words.map((word, at) => isName(word) || isPair(at) || (at > 0 && isPair(at - 1)));
}

/**
 * Tells documents that can be what words for a medium name ("the spreadsheet", "the clip"); null when none of the
 * folded words names one that can be told from outside.
 */
export function mediumOf(
  words: readonly string[],
): ((document: HistoryDocument) => boolean) | null {
  const texts = words.flatMap((word, at) => [word, `${word} ${words[at + 1] ?? ""}`]);
  const media = MEDIA.filter(({ names }) => texts.some((text) => names.test(text)));
  if (media.length === 0) return null;
  return ({ app, title, place }) =>
    media.some(
      ({ title: titles, app: apps, place: places }) =>
        titles?.test(title ?? "") === true ||
        apps?.test(app) === true ||
        (place !== null && places?.test(place) === true),
    );
}

const MEDIA: readonly {
  readonly names: RegExp;
  readonly title?: RegExp;
  readonly app?: RegExp;
  readonly place?: RegExp;
}[] = [
  {
    names: /^(?:spreadsheets?|sheets?|tabellen?|hojas?|tableurs?|excel)$/u,
    title: /\.(?:xlsx?|ods|csv|numbers)\b/iu,
    app: /calc|excel|numbers|gnumeric/iu,
    place: /^docs\.google\.com\/spreadsheets/u,
  },
  {
    names: /^pdfs?$/u,
    title: /\.pdf\b/iu,
    app: /okular|evince|acrobat|papers|zathura|preview/iu,
    place: /\.pdf$/iu,
  },
  {
    names:
      /^(?:slides?|decks?|presentations?|folien|prasentation|presentacion|diapositivas?|diapos?)$/u,
    title: /\.(?:pptx?|odp|key)\b/iu,
    app: /impress|powerpoint|keynote/iu,
    place: /^docs\.google\.com\/presentation/u,
  },
  {
    names: /^(?:videos?|clips?)$/u,
    title: /\.(?:mp4|mkv|webm|mov)\b/iu,
    app: /\bmpv\b|\bvlc\b|totem|celluloid/iu,
    place:
      /^(?:[^/]*\.)?(?:youtube\.com|youtu\.be|vimeo\.com|dailymotion\.com|twitch\.tv|netflix\.com|arte\.tv)(?:\/|$)|mediathek/u,
  },
  {
    names:
      /^(?:browsers?|brows(?:e|ed|ing)|tabs?|internet|online|netz|reiter|(?:ge)?surf(?:e[dn]?|ing|te|t)?|navegador|naveg(?:ar|ando|ue|aba)|pestanas?|navigateur|navigu(?:er|e|ais)|onglets?)$/u,
    app: BROWSER_APP,
    place: /./u,
  },
  {
    names:
      /^(?:cod(?:e|ed|ing|er|ais)|program(?:ming|med|ar|ando|e|aba)|programm(?:iert|ieren|ierte|er|ais)|vs ?code|visual studio)$/u,
    title:
      /\.(?:[cm]?[jt]sx?|py|rs|go|rb|php|java|kt|swift|c|h|cc|cpp|hpp|cs|fs|hs|ex|exs|clj|lua|pl|sh|sql|vue|svelte|html|css|scss|zig|nim|jl|scala|dart)(?![\p{L}\p{N}])/iu,
    app: /codium|\b(?:code|cursor|windsurf|zed|jetbrains|intellij|idea|pycharm|webstorm|phpstorm|goland|clion|rider|rubymine|rustrover|datagrip|android studio|visual studio|xcode|eclipse|netbeans|sublime|n?vim|gvim|neovide|emacs|helix|kdevelop|builder|qt ?creator|lapce)\b/iu,
  },
  {
    names:
      /^(?:social media|social networks?|soziale[nr]? (?:medien|netzwerke?n?)|redes sociales|reseaux sociaux)$/u,
    app: /mastodon|tuba|tokodon|\bcawbird\b/iu,
    place:
      /^(?:[^/]*\.)?(?:facebook\.com|instagram\.com|twitter\.com|x\.com|threads\.net|threads\.com|tiktok\.com|reddit\.com|linkedin\.com|bsky\.app|pinterest\.[a-z.]+|snapchat\.com|tumblr\.com|vk\.com|xing\.com|mastodon\.[a-z]+)(?:\/|$)/u,
  },
];
