/**
 * The same as `off-record.ts` for French and Spanish, whose verbs alone say who acts and how: turns that ask for advice
 * or hand out a task. It promises false wherever a turn may ask what its owner did.
 */
interface Shapes {
  readonly advice: RegExp;
  readonly task: RegExp;
  /** What speaks of something done, or of a record of it. */
  readonly done: RegExp;
}

/** @param words Folded words of the turn in its order. */
export function needsNoRecordRomance(words: readonly string[], language: "es" | "fr"): boolean {
  const { advice, task, done } = SHAPES[language];
  const text = words.join(" ");
  if (done.test(text)) return false;
  return (ASKS.test(text) && advice.test(text)) || (!SPEAKS.test(text) && task.test(text));
}

/** "Je devrais reprendre le mémoire" asks for none. */
const ASKS = /\b(?:que|qu|quoi|quel|quelle|ou|comment|tu|harias|recomiendas|aconsejas|sugieres)\b/u;
/** Who hands out a task seldom speaks of themselves: "envoie-moi le lien de la page que je lisais". */
const SPEAKS = /\b(?:je|yo|lien|enlace|link)\b/u;

const SHAPES: Readonly<Record<"es" | "fr", Shapes>> = {
  es: {
    // "¿Podría resumirme …?" asks politely; "¿qué podría hacer …?" asks for advice.
    advice:
      /\bque (?:(?:podria|podriamos|deberia|deberiamos) (?:hacer|comer|cenar|cocinar|ver|leer|visitar|regalar\w*)|(?:harias|me recomiendas|me aconsejas|me sugieres))\b/u,
    task: /^(?:(?:por favor|porfa|oye|ok|puedes|podrias) )*(?:recuerdame (?:que (?:tengo|debo|hay)|[a-z]+[aei]r(?:me|le|lo|la)?)\b|(?:redacta|escribe|envia|manda|reserva|agrega|anade|agenda|mueve|anula|cancela|pide)(?:me|le|les)? (?:un|una|el|la|los|las|mi|mis|al|a)\b)/u,
    done: /\b(?:hice|hicimos|hacia|estuve|estaba|tenia|trabaje|abri|vi|mire|lei|anduve|andaba|retomar|seguir|continuar|resumen|informe|parte|lista|dia|semana|jornada|actividad|horas|reporte|acta|ayer|anoche)\b/u,
  },
  fr: {
    advice:
      /\b(?:(?:je|on|nous) (?:pourrais|pourrait|pourrions|devrais|devrait|devrions)|(?:pourrais|devrais) je|tu (?:ferais|me conseilles|me recommandes|me proposes))\b/u,
    task: /^(?:(?:s il te plait|stp|svp|ok|alors|bon|tu|peux|pourrais) )*(?:rappelle moi (?:de|d) (?!quoi|qui|ou\b)|(?:redige|ecris|envoie|reserve|ajoute|planifie|decale|annule|commande)(?: moi| lui| leur)? (?:un|une|le|la|les|l|mon|ma|mes|des|du|de)\b)/u,
    done: /\b(?:j|ai|avais|faisais|etais|reprendre|continuer|resume|recap|recapitulatif|bilan|compte|liste|journee|matinee|semaine|activite|heures|rapport|hier)\b/u,
  },
};
