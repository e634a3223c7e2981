/** Which end of a time a turn asks for: "the last thing I did yesterday", "womit hab ich heute angefangen?". */
import { compilePhrases } from "./phrases.ts";
import type { TimeEnd } from "./reading.ts";
import type { Token } from "./tokens.ts";

const ENDS = compilePhrases<TimeEnd>([
  [
    "first",
    "first thing|the first thing|first|start with|started with|start on|started on|start the day|started the day|begin with|began with|begun with|begin the day|began the day|kick off with|kicked off with",
  ],
  [
    "last",
    "last thing|the last thing|last|finish with|finished with|finish on|finished on|finish the day|finished the day|end with|ended with|end the day|ended the day|wrap up with|wrapped up with|stop with|stopped with",
  ],
  [
    "first",
    "als erstes|als erste|als erster|zuerst|das erste|zu allererst|angefangen|anfing|begonnen|begann|losgelegt|ging s los|gings los|ging es los",
  ],
  [
    "first",
    "lo primero|la primera cosa|primera cosa|en primer lugar|empecé con|empecé por|empecé el día|empecé la jornada|por dónde empecé|arranqué con|arranqué el día|comencé con|comencé el día|abrí primero|qué hora empecé|qué hora comencé|qué hora arranqué",
  ],
  [
    "last",
    "última|último|últimas|últimos|lo último|la última cosa|última cosa|por último|terminé con|terminé el día|terminé la jornada|acabé con|acabé el día|cerré el día|abrí al final|qué hora terminé|qué hora acabé|qué hora paré|qué hora cerré",
  ],
  [
    "first",
    "la première chose|première chose|en premier|en premier lieu|commencé par|commencé avec|commencé la journée|commencé sur|démarré par|démarré la journée|attaqué la journée|attaqué par|quelle heure j ai commencé|quelle heure ai je commencé|quelle heure j ai démarré|quelle heure est ce que j ai commencé",
  ],
  [
    "last",
    "dernier|dernière|derniers|dernières|la dernière chose|dernière chose|en dernier|en dernier lieu|fini par|fini avec|fini la journée|fini sur|terminé par|terminé avec|terminé la journée|terminé sur|quelle heure j ai fini|quelle heure ai je fini|quelle heure j ai terminé|quelle heure ai je terminé|quelle heure j ai arrêté|quelle heure est ce que j ai fini|quelle heure est ce que j ai terminé",
  ],
  [
    "last",
    "letzte|letzter|letztes|letzten|als letztes|als letzte|als letzter|zuletzt|das letzte|zum schluss|am schluss|zu guter letzt|aufgehört|aufhörte|geendet|schluss gemacht",
  ],
]);

/** "When did I start work on Tuesday?", "what time did I finish yesterday?"; but not "when did I start the essay?". */
const END_ASKED =
  /(?:^|\b)(?:when|what time) (?:did|do) i (?:(?:first |actually |really )?(start|begin|get going|get started|log on|clock on|sign on|clock in|log in)|(?:finally |actually |really )?(?:finish|stop|quit|end|log off|clock off|clock out|sign off|knock off|wrap up|pack up|call it a day|pack it in))(?: up)?(?: work| working| my day| the day| my shift)?(?: at work)?$/u;

export interface EndAsked {
  readonly end: TimeEnd;
  /** Whether the turn asks for nothing else: its words are no topic. */
  readonly isAll: boolean;
}

const END_ASKED_DE =
  /^(?:also |und )?(?:wann|um wie ?viel uhr) (?:hab|habe|bin|war) ich(?: denn| eigentlich)?(?: mit der arbeit| zu arbeiten)? (?:(angefangen|begonnen|losgelegt|gestartet|los)|(?:aufgehort|schluss gemacht|fertig geworden|fertig|zugemacht))$/u;

/** @param taken Indexes of tokens that belong to times: "last Friday" is no end of one. */
export function readTimeEnd(tokens: readonly Token[], taken: ReadonlySet<number>): EndAsked | null {
  // "What did I start today with?": the time may stand within the words.
  const free = tokens.filter((_, index) => !taken.has(index));
  const text = free.flatMap(({ type, folded }) => (type === "word" ? [folded] : [])).join(" ");
  const asked = END_ASKED.exec(text) ?? END_ASKED_DE.exec(text);
  if (asked !== null) return { end: asked[1] === undefined ? "last" : "first", isAll: true };
  for (let index = 0; index < free.length; index++) {
    const match = ENDS.match(free, index);
    if (match !== null) return { end: match.meaning, isAll: false };
  }
  return null;
}
