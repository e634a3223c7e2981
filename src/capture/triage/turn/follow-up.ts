/**
 * Tells turns that lean on what was asked before, and how: "and what about the budget?", "no, Tuesday", "und davor?",
 * "y ayer?", "plus de détails". It looks at the words alone; what there is to lean on is decided elsewhere.
 */
import type { AnchorMention, ContentWord, Leaning, TimeMention } from "./reading.ts";
import type { Token } from "./tokens.ts";

/** A turn that begins with "and" is one only when it is this short; longer ones stand for themselves. */
const SHORT_WORDS = 7;
/** "And what did I do right after that?" */
const SHORT_QUESTION = 11;
/** "Qu'est-ce que j'ai fait d'autre ce jour-là ?" */
const LONG_QUESTION = 16;

interface Parts {
  readonly anchors: readonly AnchorMention[];
  readonly contentWords: readonly ContentWord[];
  readonly times: readonly TimeMention[];
  /** Indexes of tokens that belong to times. */
  readonly covered: ReadonlySet<number>;
  /** Whether a time is counted from one that was spoken of. */
  readonly leans: boolean;
}

/** Null for a turn that stands for itself. */
export function readLeaning(tokens: readonly Token[], parts: Parts): Leaning | null {
  const words = tokens
    .map(({ folded, type }, index) => ({ folded, type, timed: parts.covered.has(index) }))
    .filter(({ type }) => type === "word" || type === "number");
  const said = words.map(({ folded }) => folded).join(" ");
  // "Good evening" has words of time and names none.
  const isTimed = parts.times.length > 0 || parts.leans;
  if (!isTimed && words.length <= LONG_QUESTION && THAT_DAY.test(said)) return { how: "day" };
  if (!isTimed && PART_OF_THAT.test(said)) return { how: "part" };
  if (words.length === 0 || words.length > SHORT_QUESTION) {
    return isFollowUp(tokens, parts.anchors) ? { how: "and" } : null;
  }
  if (YOU.test(said) || LATER.has(said)) return null;
  if (MORE.test(said)) return { how: "more" };
  const matters = parts.contentWords.some(({ generic }) => !generic);
  // Spanish "antes" alone is "earlier" as well.
  const untimed = parts.times.every(({ kind }) => kind === "recent");
  if (untimed && parts.anchors.every(({ kind }) => kind === "that")) {
    const beside = matters
      ? CAME_BESIDE.exec(said)?.[0]
      : (BESIDE.exec(said)?.[0] ?? FIRST_BESIDE.exec(said)?.[1]);
    if (beside !== undefined) {
      return { how: "beside", side: BEFORE.test(beside) ? "before" : "after" };
    }
  }
  if (!matters && !isTimed && parts.anchors.every(({ kind }) => kind === "that")) {
    if (WHEN_THAT.test(said)) return { how: "asks", intent: "lastseen" };
    if (LONG_THAT.test(said)) return { how: "asks", intent: "duration" };
  }
  const corrects = CORRECTS.test(said) || (words.length <= SHORT_NO && NO_RATHER.test(said));
  if (isFollowUp(tokens, parts.anchors) || (matters && corrects)) {
    return { how: isTimed ? "time" : "and" };
  }
  // "No, Tuesday", "just on Friday", "nachmittags meine ich": a time and what corrects or narrows it.
  const rest = words.filter(({ timed }) => !timed);
  return isTimed && rest.every(({ folded }) => BESIDES.has(folded)) ? { how: "bare" } : null;
}

export function isFollowUp(tokens: readonly Token[], anchors: readonly AnchorMention[]): boolean {
  if (anchors.some(({ kind }) => kind === "that")) return true;
  const words = tokens.filter(({ type }) => type === "word" || type === "number");
  let first = 0;
  while (OPENERS.has(words[first]?.folded ?? "")) first++;
  const rest = words.slice(first).map(({ folded }) => folded);
  if (CONJUNCTIONS.has(rest[0] ?? "") && rest.length <= SHORT_WORDS) return true;
  const start = rest.slice(0, 6).join(" ");
  return LEANING.test(start);
}

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

const OPENERS = set(
  "ok okay thanks thank you great cool nice right good hmm danke gut super gracias vale bien merci d'accord bon oh ah",
);

const CONJUNCTIONS = set("and und y et e also plus then dann luego puis pis");

const LEANING =
  /^((and|und|y|et) )?((what|how) about|what of|same (for|with|question|thing)|was ist mit|wie siehts? (es )?(mit|bei)|wie wars? (es )?(mit|bei)|dasselbe|das gleiche|und (was|wie)|que (hay|tal|pasa) (de|del|con)|lo mismo|y (que|en|con|el|la|lo|ayer|antes|despues)|et (pour|le|la|les|hier|avant|apres|qu)|qu en est il|pareil pour|la meme chose|meme question|quid de)\b/;

/** "No, I meant the budget", "ich meinte den Mietvertrag": puts another matter in the place of the one before. */
const CORRECTS =
  /^(?:(?:no|nope|nein|nee|ne|non|nan|wait|sorry|oops|perdon|pardon|entschuldigung|moment|ah|oh|ach|ay|euh|um|uh) )*(?:i meant?|i was thinking of|ich mein(?:e|te)?|digo|quiero decir|quise decir|queria decir|me refiero a|me referia a|je veux dire|je voulais dire|je parle de|je parlais de) /u;
/** "No, the budget" */
const NO_RATHER =
  /^(?:no|nope|nein|nee|non|nan)(?: not that one| not that)? (?:the|my|das|die|der|den|dem|mein(?:e|en|em)?|el|la|los|las|mi|le|les|l|mon|ma) /u;
const SHORT_NO = 5;

/** "And you?" asks after nothing that was asked before. */
const YOU =
  /^(?:(?:and|und|y|et|what about|how about|was ist mit|que hay de) )+(?:you|yourself|du|dir|sie|ihnen|tu|ti|vos|usted|toi|vous)\b/u;

/** Alone these put something off. */
const LATER = new Set(["later", "spater", "luego", "mas tarde", "plus tard"]);

/** The same again, and all of it. */
const MORE = new RegExp(
  `^(?:(?:ok|okay|and|please|can you|could you|und|bitte|kannst du|y|por favor|porfa|puedes|podrias|et|peux tu|tu peux|pourrais tu|stp|svp|s il te plait) )*(?:${[
    "(?:tell me |give me |show me |some |any |a bit |a little |go on )*(?:more|further) ?(?:details?|about (?:it|that|this)|on (?:it|that|this)|info|information|please)?",
    "(?:(?:in (?:more )?|the )?details?|be more (?:specific|precise)|elaborate|expand(?: on (?:it|that))?)",
    "(?:what|anything) else",
    "(?:erzahl mir |erzahl |sag mir |gib mir |zeig mir |noch |etwas |ein bisschen |ein wenig )*(?:mehr|genauer|ausfuhrlicher|details|einzelheiten)(?: details| dazu| davon| daruber| infos?| einzelheiten)?",
    "(?:was (?:war )?(?:noch|sonst(?: noch)?)|geht(?: es| s|s)? (?:das )?(?:auch )?genauer|erzahl weiter|die details|ins detail)",
    "(?:dame |deme |damelo |muestrame |mostrame |quiero |con |un poco |algo )*mas (?:detalles?|informacion|info|detallado)(?: sobre (?:eso|esto))?",
    "(?:cuentame|contame|dime|decime|explicame) (?:un poco )?mas(?: de eso| sobre eso)?|(?:dame |deme )?(?:los )?detalles?|en detalle|con (?:mas )?detalle|detalla(?:lo|melo)?|amplia(?:lo|melo)?|sigueme contando|(?:que|algo) mas",
    "(?:donne moi |je veux |il me faut |avec |un peu |quelques )*(?:plus|davantage) (?:de |d )?(?:details?|precisions?|infos?|informations?)",
    "(?:dis m en|dis moi en|m en dire|j en veux|raconte m en) (?:un peu )?plus|(?:donne moi )?(?:les )?details?|(?:en|dans le) detail|detaille(?:r)?|developpe(?:r)?|precise(?:r)?|sois plus precis|plus (?:precis|precisement|en detail)|(?:quoi|rien) d autre",
  ].join(
    "|",
  )})(?: please| bitte| por favor| porfa| stp| svp| s il te plait| thanks| danke| gracias| merci)*$`,
  "u",
);

/** What stands last in a turn that asks beside what was asked before. */
const LAST_SIDE = `(?:${[
  "(?:before|after)(?: (?:that|it|this|then))?|beforehand|afterwards?|later|earlier|next|then what",
  "davor|vorher|zuvor|danach|nachher|spater|fruher|hinterher|anschliessend|dann",
  "(?:antes|despues|luego)(?: de (?:eso|esto|ello))?|mas tarde|mas temprano|tras eso|a continuacion",
  "(?:avant|apres)(?: (?:ca|cela))?|auparavant|ensuite|plus tard|plus tot|par la suite",
].join("|")})$`;

/** "What came right after that?", "was kam danach?": of all verbs one may stand there. */
const CAME_BESIDE = new RegExp(
  `^(?:(?:and|und|y|et) )?(?:what|was|que|qu est ce qui|il s est passe quoi|c etait quoi)(?: [a-z]+){1,2}?(?: right| just| directly| direkt| gleich| kurz| unmittelbar| justo| juste| tout de suite| directement)? ${LAST_SIDE}`,
  "u",
);

/** "Before that", "and after?", "et j'ai fait quoi juste après ?": the side comes last, and nothing behind it. */
const BESIDE = new RegExp(
  `(?:^|^(?:ok |okay )?(?:and|und|y|et|pis|puis) (?:.* )?|\\b(?:what|was|que|quoi|woran|womit|en que|sur quoi) .*?|^(?:(?:a bit|a little|un|un peu|ein bisschen|etwas) )?(?:just|right|kurz|direkt|gleich|justo|juste|poco|peu) )${LAST_SIDE}`,
  "u",
);
/** "And then what did I do?", "et ensuite j'ai fait quoi ?": the side comes first, and asks of nothing else. */
const FIRST_BESIDE =
  /^(?:(?:and|und|y|et|pis|ok|bon) )?(?:(?:juste|just|right|direkt|kurz|justo) )?(before that|after that|then|next|afterwards|danach|dann|davor|vorher|nachher|anschliessend|despues(?: de eso)?|luego|antes(?: de eso)?|ensuite|apres(?: ca)?|avant(?: ca)?) (?:.* )?(?:what|was|woran|que|quoi|qu)(?: .*)?$/u;
const BEFORE =
  /(?:before(?: (?:that|it|this|then))?|beforehand|earlier|davor|vorher|zuvor|fruher|mas temprano|plus tot|antes(?: de (?:eso|esto|ello))?|avant(?: (?:ca|cela))?|auparavant)$/u;

/** "How much of that was coding?" */
const PART_OF_THAT =
  /^(?:(?:and|und|y|et|so|ok|okay) )*(?:how (?:much|long) of (?:that|it|this)(?: time)?|wie ?viel (?:zeit )?davon|cuanto (?:tiempo )?de (?:eso|ese tiempo)|combien (?:de temps )?(?:la dedans|de ca|de ce temps)) [a-z]/u;

/** "What else did I do that day?": the day of what was asked for or told before. */
const THAT_DAY =
  /\b(?:that(?: same| very)? day|the same day|an (?:de[mn]|diesem|jenem|demselben)(?: selben| gleichen)? tag|am (?:selben|gleichen) tag|(?:ese|aquel) (?:mismo )?dia|(?:el )?mismo dia|ce(?: meme)? jour(?: la)?|le meme jour)$|\b(?:that(?: same| very)? day|an dem tag|ese dia|ce jour la) /u;

/** "When was that?", "¿cuándo fue eso?": what it was stands in the turn before. */
const WHEN_THAT =
  /^(?:(?:and|und|y|et|exactly|genau|exactement|exactamente) )*(?:when (?:exactly )?(?:was|is) (?:that|it|this)|(?:und )?wann (?:genau )?(?:war|ist) (?:das|es)|wann (?:genau )?(?:war das|das war)|cuando (?:exactamente )?fue(?: eso| esto)?|(?:eso|esto) cuando fue|que dia fue(?: eso)?|a que hora fue(?: eso)?|(?:c etait|cetait) (?:quand|quel jour|a quelle heure)|quand (?:c etait|etait ce|ca)|(?:c etait |cetait )?(?:quand|a quelle heure) (?:exactement|ca|deja)|when (?:exactly|precisely)|wann (?:genau|denn)|cuando exactamente)(?: (?:exactly|genau|denn|exactamente|exactement|deja|encore|ca|cela|again|nochmal))*$/u;
const LONG_THAT =
  /^(?:(?:and|und|y|et) )*(?:how long (?:was|did) (?:that|it|this)(?: take| last)?|wie lange (?:war|ging|dauerte) (?:das|es)|wie lange hat (?:das|es) gedauert|cuanto (?:tiempo )?(?:duro|fue|tarde|llevo)(?: eso| esto)?|(?:ca|cela) (?:a dure|m a pris) combien(?: de temps)?|combien de temps (?:ca|cela|c) (?:a |m a )?(?:dure|pris|etait))$/u;

/** What may stand beside a time in a turn that only corrects or narrows one. */
const BESIDES = set(
  "no not nope oops hm hmm euh oups ups uy erreur correction error perfect great parfait nickel super genial perfecto prima sorry wait oh ah ok okay i mean meant make that rather instead actually just only alone but then please the on in at for of " +
    "nein nicht nee ne ach eher meinte doch sorry entschuldigung ich meine meinte sondern lieber eigentlich nur bloss allein alleine aber also bitte am im an um der die das den dem und " +
    "perdon digo dicho disculpa espera mejor dicho mas bien digo quiero decir quise queria nomas nada solo solamente unicamente pero entonces porfa por favor el la los las de del en a al y pues o sea " +
    "non nan pas pardon desole desolee attends plutot je veux voulais dire seulement juste uniquement mais alors stp svp le les l du d des au aux pour et donc en fait enfin",
);
