/**
 * The same as `off-record.ts` for French and Spanish, whose verbs alone say who acts and how: turns that only tell
 * something, ask for advice, hand out a task or ask after the world. It promises false wherever a turn may ask what its
 * owner did.
 */
import { isMediumWord } from "./languages.ts";
import type { Token } from "./tokens.ts";

type Romance = "es" | "fr";

/** @param taken Indexes of tokens that belong to times. */
export function needsNoRecordRomance(
  tokens: readonly Token[],
  language: Romance,
  taken: ReadonlySet<number>,
): boolean {
  const words = tokens.filter(({ type }) => type === "word").map(({ folded }) => folded);
  const { advice, task, done, world } = SHAPES[language];
  const text = words.join(" ");
  if (!done.test(text)) {
    if (ASKS.test(text) && advice.test(text)) return true;
    if (!SPEAKS.test(text) && task.test(text)) return true;
    if (!OWN[language].test(text) && world.test(text)) return true;
  }
  return isTelling(tokens, language, taken);
}

/** "Je devrais reprendre le mémoire" asks for none. */
const ASKS = /\b(?:que|qu|quoi|quel|quelle|ou|comment|tu|harias|recomiendas|aconsejas|sugieres)\b/u;
/** Who hands out a task seldom speaks of themselves: "envoie-moi le lien de la page que je lisais". */
const SPEAKS = /\b(?:je|yo|lien|enlace|link)\b/u;
/** Whoever says one of these speaks of themselves, or of what is in front. */
const OWN: Readonly<Record<Romance, RegExp>> = {
  es: /\b(?:yo|me|mi|mis|nos|nuestr[oa]s?|est[oea]|estoy|tengo|llevo|voy|pantalla)\b/u,
  fr: /\b(?:je|j|me|m|moi|mon|ma|mes|on|nous|notre|nos|(?<!\best )ce|cette|ecran)\b/u,
};

interface Shapes {
  readonly advice: RegExp;
  readonly task: RegExp;
  /** What speaks of something done, or of a record of it. */
  readonly done: RegExp;
  /** What the present tells of the world after a question word: "à quelle heure ferme la poste ?". */
  readonly world: RegExp;
}

const SHAPES: Readonly<Record<Romance, Shapes>> = {
  es: {
    // "¿Podría resumirme …?" asks politely; "¿qué podría hacer …?" asks for advice.
    advice:
      /\bque (?:(?:puedo|podemos|podria|podriamos|deberia|deberiamos|debo) (?:hacer|comer|cenar|almorzar|cocinar|preparar|ver|leer|visitar|ponerme|llevar|regalar\w*)|(?:harias|me (?:recomiendas|recomendas|recomienda|aconsejas|aconseja|sugieres|sugeris|sugiere))|(?:(?:le|les|me|nos) )?(?:doy|cocino|preparo|regalo|ceno|almuerzo|cocinamos|cenamos|regalamos))\b/u,
    task: /^(?!.*\b(?:otra vez|de nuevo)\b)(?:(?:por favor|porfa|oye|che|ok|y|puedes|podrias|podes) )*(?:(?:recuerdame|acuerdame|acordame|recordame) (?:que (?:tengo|debo|hay)|de [a-z]+[aei]r(?:me|le|lo|la)?|[a-z]+[aei]r(?:me|le|lo|la)?)\b|(?:redacta|escribe|escribi|envia|manda|reserva|agrega|anade|agenda|programa|mueve|move|pasa|anula|cancela|pide|pedi)(?:me|le|les)? (?:un|una|el|la|los|las|mi|mis|al|a)\b|(?:haceme|dame|(?:haz|crea|prepara|disena|inventa|genera|planea|planifica|organiza|propon|sugiere)(?:me|nos|le)?) (?:un|una|unos|unas|algunos|algunas|dos|tres|cinco|diez) [a-z]|pon(?:e|me|eme)? (?:un|una|el|la) (?:alarma|recordatorio|aviso|cita|reunion|junta|temporizador|evento)\b)/u,
    done: /\b(?:hice|hicimos|hacia|estuve|estaba|tenia|trabaje|abri|vi|mire|lei|anduve|andaba|retomar|seguir|continuar|resumen|informe|parte|bitacora|lista(?! de (?:reproduccion|la compra|compras|regalos|invitados))|paginas?|archivos?|llamadas?|correos?|abiert[oa]s?|dia|semana|jornada|actividad|horas|reporte|acta|ayer|anoche)\b/u,
    world:
      /^(?:(?:y|oye|che|sabes|sabe|dime|decime) )*(?:que (?!paginas|archivos|ventanas|llamadas|reuniones|correos)[a-z]+ hay(?! abiert)\b|(?:a que hora|cuando|cuanto|cuanta|donde|que dia) (?:es que )?(?:se )?(?:abre|abren|cierra|cierran|juega|juegan|empieza|empiezan|comienza|sale|salen|llega|llegan|pasa|pasan|dura|cuesta|cuestan|vale|amanece|anochece)\b)/u,
  },
  fr: {
    advice:
      /\b(?:(?:je|on|nous) (?:pourrais|pourrait|pourrions|devrais|devrait|devrions)|(?:pourrais|devrais|puis) je|je peux (?:faire|manger|cuisiner|preparer|offrir|regarder|lire|mettre)|tu (?:ferais|me conseilles|me recommandes|me proposes))\b/u,
    task: /^(?:(?:s il te plait|stp|svp|ok|alors|bon|et|tu|peux|pourrais) )*(?:(?:rappelle moi|fais moi penser) (?:de|d|a) (?!quoi|qui|ou\b)|(?:redige|ecris|envoie|reserve|ajoute|planifie|decale|annule|commande)(?: moi| lui| leur)? (?:un|une|le|la|les|l|mon|ma|mes|des|du|de)\b|(?:fais|prepare|cree|propose|invente|genere|planifie|organise|concocte)(?: moi| nous)? (?:un|une|des|deux|trois|cinq|quelques) [a-z]|(?:mets|met|inscris|note|bloque|programme|deplace|reporte|prends|achete|appelle)(?: moi| lui| leur)? (?:un|une|le|la|les|mon|ma|mes)\b)/u,
    done: /\b(?:j|ai|avais|faisais|etais|reprendre|continuer|resume|recap|recapitulatif|bilan|compte|liste(?! de (?:courses|lecture|cadeaux))|pages?|fichiers?|onglets?|appels?|ouverts?|ouvertes?|journee|matinee|semaine|activite|heures|rapport|feuille|hier)\b/u,
    world:
      /^(?:(?:et|dis|sais tu|tu sais|au fait) )*(?:a quelle heure|quand|combien|ou|quel jour)(?: est ce que?)?(?: [a-z]+){0,3}? (?<!\b(?:a|ont|est|sont|avait|ete) )(?:ouvre|ouvrent|ferme|ferment|joue|jouent|commence|commencent|passe|passent|part|partent|arrive|arrivent|coute|coutent|dure|durent|sort|sortent|finit|debute)\b/u,
  },
};

// ---- what only tells something

interface Telling {
  /** Who a sentence about oneself begins with, and verbs that say so by themselves. */
  readonly self: ReadonlySet<string>;
  /** The same, told by the accent: "comí", "trabajé". */
  readonly selfVerb: RegExp | null;
  /** What may stand before such a verb, and before that of others. */
  readonly leads: ReadonlySet<string>;
  /** What a sentence about something begins with. */
  readonly other: ReadonlySet<string>;
  /** Pronouns that are followed by their verb. */
  readonly pronouns: ReadonlySet<string>;
  /** Finite verbs that make a sentence of what is said. */
  readonly verbs: ReadonlySet<string>;
  /** The same, told by the accent: "llegó". */
  readonly verb: RegExp | null;
  /** What asks, seeks or wishes, wherever it stands. */
  readonly asks: ReadonlySet<string>;
}

function isTelling(
  tokens: readonly Token[],
  language: Romance,
  taken: ReadonlySet<number>,
): boolean {
  const { self, selfVerb, leads, other, pronouns, verbs, verb, asks } = TELLING[language];
  if (tokens.some(({ folded, text }) => asks.has(folded) || /^[?¿]$/u.test(text))) return false;
  // Who is at their timesheet needs what they did.
  const text = tokens.map(({ folded }) => folded).join(" ");
  if (/\b(?:parte|hoja|registro) de horas\b|\bfeuille d heures\b/u.test(text)) return false;
  // "La página era azul" and "tenía abierto un documento" are said of what one looks for.
  if (tokens.some(({ folded }) => isMediumWord(folded, language))) return false;
  const words = tokens.filter(({ type }, index) => type === "word" && !taken.has(index));
  const start = words.findIndex(({ folded }) => !OPENERS.has(folded));
  const sentence = words.slice(Math.max(0, start));
  const first = sentence.findIndex(({ folded }) => !leads.has(folded));
  const head = sentence[Math.max(0, first)];
  if (head === undefined || sentence.length < 2) return false;
  const isVerb = ({ folded, text }: Token): boolean =>
    verbs.has(folded) || verb?.test(text) === true;
  if (self.has(head.folded) || selfVerb?.test(head.text) === true) return true;
  if (first > 0 && isVerb(head)) return true;
  if (pronouns.has(head.folded)) return true;
  if (verbs.has(head.folded) && language === "es") return true;
  if (!other.has(head.folded)) return false;
  return sentence.slice(first + 2).some((word, index, rest) => {
    // "La réunion à midi", typed in haste, has no verb.
    if (word.folded !== "a") return isVerb(word);
    return language === "fr" && word.text === "a" && PARTICIPLE.test(rest[index + 1]?.text ?? "");
  });
}

const PARTICIPLE = /(?:é|ée|és|ées|i|is|it|ie|u|us|ue|ert|ait)$/u;

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

const OPENERS = set(
  "ah oh bon ben bah euh enfin pff pfff ouf et mais donc alors oui wow uf ay ufa bueno pues y pero asi ok che oye uy vaya",
);

const TELLING: Readonly<Record<Romance, Telling>> = {
  fr: {
    self: set("je j on nous moi"),
    selfVerb: null,
    leads: set(""),
    other: set("mon ma mes notre nos le la les l un une ce cet cette"),
    pronouns: set("il elle ils elles c ca cela"),
    verbs: set(
      "est sont etait etaient sera ont avait avaient va vont allait allaient fut s marche marchait dormait dort",
    ),
    // "Le greffe ne répondait pas"; nouns end so as well.
    verb: /^(?!(?:extr|portr|retr|souh|parf|attr|forf|tr|l|f)ait$)\p{L}{2,}(?:ait|aient)$/u,
    asks: set(
      "quoi que qu quel quelle quels quelles qui quand ou comment combien pourquoi lequel laquelle lesquels lesquelles dont tu t toi vous votre vos truc trucs chose choses quelque machin ouvert ouverts ouverte ouvertes milieu " +
        "voudrais voudrait voulais veux aimerais aimerait souhaite souhaiterais dois devrais faut faudrait cherche cherchais trouve trouver retrouve retrouver retrouves retrouvez perdu perds perdue ferme fermee oublie rappelle rappeler rappelles rappelez souviens souvient sais sait peux peut pourrais pourriez besoin reprends reprend retourne retournons poursuit reprendre reprenons continue continuer continuons poursuivre montre montrer montrez donne redonne remets remettre ressors ressortir ouvre rouvre affiche dis dites resume resumer fais faites liste aide aider explique expliquer stp svp plait non hein revoir relire remonter fil interrompu interrompue interrompt derange derangee distrait distraite retour revenu revenue revoici revoila embarquer",
    ),
  },
  es: {
    self: set(
      "yo nosotros fui fuimos estuve estuvimos tuve tuvimos hice hicimos anduve pude pudimos puse vine vinimos vi vimos di dije traje era estaba estabamos tenia teniamos iba ibamos estoy estamos tengo tenemos soy somos voy vamos he hemos ando llevo comi comimos dormi dormimos sali salimos llegue llegamos pase pasamos compre trabaje trabajamos jugue jugamos corri cene cenamos almorce desayune cocine camine",
    ),
    selfVerb: /^\p{L}{2,}[éí]$/u,
    leads: set("me se nos no ya casi tambien le les lo apenas nunca hoy solo"),
    other: set("el la los las mi mis nuestro nuestra nuestros nuestras un una este esta"),
    pronouns: set("ella ellos ellas"),
    verbs: set(
      "fue fueron estuvo estuvieron tuvo salio llego llamo vino rompio poncho pincho enfermo duro costo termino acabo empezo gusto quedo fallo cayo dolio estaba estaban era eran es son esta estan hay hubo hace hizo llueve llovio",
    ),
    verb: /^\p{L}{2,}ó$/u,
    asks: set(
      "que quien quienes cual cuales cuando cuanto cuanta cuantos cuantas donde adonde como porque ke tu te ti usted vos tienes tenes sabes algo q abierto abierta abiertos abiertas medias perdio " +
        "quiero queria quisiera gustaria encantaria necesito busco buscaba buscando buscar encuentro encontrar recuerdo acuerdo olvide sé perdi cerre debo deberia puedo puedes podrias podes toca " +
        "busca buscame muestra muestrame mostrame dame pasame saca sacame abre abreme ensename dime decime recuerdame acordame resume resumeme haz hazme haceme arma armame escribe escribeme prepara redacta lista llena ayuda ayudame explica explicame retoma retomo retomar retomemos sigo sigue seguir sigamos seguimos continuar continuo continuemos volvamos vuelve " +
        "verdad cierto hilo interrumpieron interrumpio distraje distraido distraida vuelta volvi regrese porfa porfavor",
    ),
  },
};
