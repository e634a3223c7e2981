import { describe, expect, it } from "vitest";
import { readTurn } from "../../../src/capture/triage/read-turn.ts";

const NOW = Date.parse("2026-11-27T16:12:00+01:00") * 1000;

function tells(turn: string): boolean {
  return readTurn(turn, NOW, "Europe/Berlin").needsNoRecord;
}

describe("a turn that no record can help with", () => {
  it.each([
    "I spent Sunday at the lake",
    "I was up until two last night, so tired",
    "my flight was late this morning again",
    "the appointment with the plumber went well",
    "we finished the garden fence yesterday",
    "gestern war ich beim Zahnarzt",
    "ich war gestern bis drei wach",
    "mein Bus hatte heute früh wieder Verspätung",
    "das Essen mit Papa war schön",
    "das Gespräch mit der Bank lief gut",
    "qu'est-ce que je pourrais cuisiner samedi ?",
    "tu ferais quoi dimanche à ma place ?",
    "rédige une lettre à la mairie pour le permis de mardi",
    "rappelle-moi d'appeler le plombier lundi",
    "¿qué podríamos cenar el sábado?",
    "redáctame un mensaje para el casero sobre lo del martes",
    "recuérdame pagar el alquiler el lunes",
    "what should I cook tonight?",
    "remind me to phone the school on Monday",
    "put the hairdresser in my diary for Friday at 3",
    "could you draft a letter to the council, the lift has been broken since Tuesday",
    "trag den Friseur für Freitag um drei ein",
    "erinner mich am Montag an die Miete",
    "how long should one sleep a night?",
    "was soll ich heute Nachmittag machen?",
    "what comes after dessert in Italy?",
    "when do the shops open on Sunday?",
    "was hat an Ostern offen?",
    "was kommt nach dem Frühstück in Japan?",
    "what did you do on Sunday?",
    "was hast du gestern gemacht?",
  ])("is known as one: %s", (turn) => {
    expect(tells(turn)).toBe(true);
  });

  it.each([
    "what did I do yesterday",
    "I have to fill in my hours, what was I on yesterday",
    "I was at the lake on Sunday?",
    "I want to carry on with the fence plans",
    "I closed the tab about fences, get it back",
    "the page I had open yesterday",
    "the sheet that was open on Monday",
    "everything I did this morning",
    "yesterday morning, the fence plans",
    "ich will mit dem Mietvertrag weitermachen",
    "ich hatte doch gestern so eine Seite über Otter offen",
    "das Blatt, das ich gestern offen hatte",
    "gestern hab ich woran gearbeitet",
    "die Seite von gestern",
    "what did I think I should do yesterday",
    "what have you got for yesterday",
    "remind me what I did yesterday",
    "remind me of the fence plans",
    "write a summary of what I did yesterday",
    "call with Ines yesterday",
    "draft of the letter from Monday",
    "schreib auf, was ich gestern gemacht hab",
    "was hast du für gestern aufgezeichnet",
    "what does this page say",
    "was macht diese Funktion",
    "what happened yesterday",
    "what did we do on Sunday",
    "pourrais-tu me dire ce que je faisais samedi ?",
    "rappelle-moi ce que j'ai fait lundi",
    "rédige le compte rendu de ma matinée",
    "ce que j'avais dit que je devrais lire",
    "je devrais reprendre le permis de mardi",
    "rappelle-moi de quoi parlait la page de mardi",
    "envoie-moi le lien de la page que je lisais mardi",
    "¿qué me recomiendas retomar de ayer?",
    "¿podría resumirme el lunes?",
    "recuérdame qué hice el lunes",
    "escribe un resumen de mi lunes",
    "reserva de hotel que vi el martes",
    "was hat mich gestern beschäftigt",
    "hab ich gestern den Mietvertrag offen gehabt",
  ])("is not one that may ask for something: %s", (turn) => {
    expect(tells(turn)).toBe(false);
  });
});
