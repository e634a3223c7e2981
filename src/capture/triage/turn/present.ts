/**
 * Tells turns about this moment whose words name no window: how the machine is ("how much battery is left?"), what plays, and how
 * long the owner has been at what is in front. What answers them is what is so now, and no sum of a week. It promises false for
 * general knowledge ("how much memory do elephants have?") and wherever another time is named.
 */
import type { TimeMention, TurnLanguage } from "./reading.ts";
import type { Token } from "./tokens.ts";

export function asksOfPresent(
  tokens: readonly Token[],
  language: TurnLanguage,
  times: readonly TimeMention[],
): boolean {
  if (language === "other") return false;
  if (times.some(({ kind }) => kind !== "now" && kind !== "recent")) return false;
  const words = tokens.filter(({ type }) => type === "word");
  if (words.length > MAX_WORDS) return false;
  const text = words.map(({ folded }) => folded).join(" ");
  return ASKS[language].some((pattern) => pattern.test(text));
}

const MAX_WORDS = 12;

const HELLO_EN =
  "^(?:so |hey |hi |ok |okay |and |um |uh |btw |quick question |can you (?:tell me|check|see) )*";
const MACHINE_EN =
  "(?:my|the|this) (?:laptop|computer|machine|pc|mac|macbook|notebook|battery|thing)";
const NOW_EN =
  "(?: (?:right )?now| currently| at the moment| here| still| again| already| today| please)*$";
const HELLO_DE = "^(?:so |hey |na |ok |okay |und |sag mal |kannst du (?:mir sagen|sehen) )*";
const MACHINE_DE = "(?:mein|der|das) (?:laptop|rechner|computer|notebook|pc|akku)";

const ASKS: Readonly<Record<Exclude<TurnLanguage, "other">, readonly RegExp[]>> = {
  en: [
    `how (?:much|long) (?:more )?(?:battery|charge|juice)(?: life| power)? (?:do i (?:still )?have|have i got|is (?:there )?|s )?(?: ?(?:left|remaining))?`,
    `(?:what|how) (?:s|is) my (?:battery|charge)(?: level| status| at| doing| looking)*`,
    `(?:is|s) ${MACHINE_EN} (?:still )?(?:charging|charged|plugged in|on battery|on ac|on mains|online|connected|low)`,
    "am i (?:still )?(?:online|offline|connected|on battery|plugged in|on wifi|on ac)",
    `how (?:busy|loaded) (?:is|s) ${MACHINE_EN}`,
    "how much (?:cpu|memory|ram) (?:am i using|is (?:being )?used|is in use|is free|is left|do i have (?:left|free))",
    "(?:what|how) (?:s|is) (?:my|the) (?:cpu|memory|ram)(?: usage| load| use)(?: at| like)?",
    "what (?:s|is) (?:currently |now )?playing",
    "(?:what|which) (?:song|track|tune|music|album) (?:is|s) (?:this|that|it|playing|on)(?: playing)?",
    "how long have i been (?:[a-z]+ing )?(?:at|on|in|with|to|into)? ?(?:this|here|it)(?: (?:page|file|video|tab|app|window|document|article|task|thing|one|for))*",
    "how long have i been (?:sitting|working|going|sat)(?: (?:here|at (?:the|my) (?:desk|computer|screen|keyboard|laptop)|in front of (?:the|my|this) (?:screen|computer|laptop)))?",
  ].map((body) => new RegExp(`${HELLO_EN}(?:${body})${NOW_EN}`, "u")),
  de: [
    "wie ?viel (?:akku|batterie|ladung|saft) (?:hab|habe|ist|hat)(?: ich| der| mein laptop)?(?: noch)?(?: da| ubrig)?",
    "(?:wie (?:ist|steht|viel ist)|was macht) (?:mein|der) (?:akku|akkustand|ladestand)(?: noch)?",
    `(?:ladt|hangt) ${MACHINE_DE}(?: am (?:strom|netz|ladekabel))?`,
    `(?:ist|lauft) ${MACHINE_DE} (?:am strom|am netz|online|auf akku|ausgelastet|geladen)`,
    "bin ich (?:noch )?(?:online|offline|verbunden|im netz|am strom)",
    "(?:was|welches lied|welcher song|welche musik) (?:lauft|spielt)(?: da| hier| denn)*",
    "wie lange (?:bin|sitz|sitze|hock|hocke|arbeite|les|lese|mach|mache) ich (?:jetzt |nun )?schon (?:(?:hier|hieran|hierran|daran|dran|da|am (?:rechner|computer|schreibtisch|bildschirm|laptop)|vor dem (?:rechner|bildschirm)|(?:an|auf|in) (?:dem|der|dies[a-z]+)(?: (?:hier|seite|datei|tab|fenster|dokument|artikel|video))*)(?: dran)?)",
  ].map(
    (body) =>
      new RegExp(`${HELLO_DE}(?:${body})(?: gerade| jetzt| eigentlich| grade| denn| noch)*$`, "u"),
  ),
  es: [
    "cuanta (?:bateria|carga) (?:me queda|tengo|queda|le queda a (?:mi|la|el) [a-z]+)",
    "(?:como (?:esta|va|ando de|voy de)|a cuanto esta) (?:mi |la )?bateria",
    "(?:se )?esta cargando (?:mi|el|la) (?:laptop|portatil|ordenador|computadora|compu|bateria)",
    "estoy (?:en linea|conectad[oa]|online)",
    "(?:que|cual) (?:cancion|musica|tema|rola)(?: es)? (?:suena|esta|esta sonando|es esta)",
    "que (?:suena|esta sonando)",
    "cuanto (?:tiempo )?llevo (?:[a-z]+ndo )?(?:aqui|en esto|con esto|esto|en (?:esta|este) [a-z]+|sentad[oa](?: aqui)?)",
  ].map(
    (body) => new RegExp(`^(?:oye |y |ok |a ver )*(?:${body})(?: ahora| ya| aqui| ahorita)*$`, "u"),
  ),
  fr: [
    "(?:il me reste combien de|combien de|j ai combien de) (?:batterie|charge)(?: (?:il )?me reste(?: t il)?| ai je| j ai| est ce qu il me reste)?",
    "(?:est ce que )?(?:mon|l|le) ?(?:ordi|ordinateur|portable|pc|mac) (?:charge|est en charge|est branche|est connecte)",
    "(?:est ce que )?(?:je suis|suis je) (?:en ligne|connectee?|sur batterie)",
    "(?:c est quoi|quelle est|c est) (?:cette|la) (?:chanson|musique)(?: qui passe)?",
    "(?:qu est ce qui|quelle (?:chanson|musique)) (?:passe|joue)",
    "(?:ca fait combien de temps que|depuis combien de temps|depuis quand|combien de temps que) (?:est ce que )?(?:je suis|suis je|je bosse|je travaille|je lis|je traine) (?:ici|la|la dessus|dessus|assise?(?: ici| la)?|sur (?:ca|cette page|ce [a-z]+|cet [a-z]+)|devant (?:cet|l) ecran)",
  ].map(
    (body) =>
      new RegExp(
        `^(?:et |ok |dis |dis moi |euh )*(?:${body})(?: la| deja| maintenant| en ce moment| actuellement)*$`,
        "u",
      ),
  ),
};
