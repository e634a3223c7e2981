/** Tells sums: "15 % de 260", "douze fois huit". No hour and no date is one. */

const NUMBER =
  "(?:\\d+(?:[.,]\\d+)?|(?:[a-zé]+[- ])?(?:un|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingts?|trente|quarante|cinquante|soixante|septante|huitante|octante|nonante|cents?|mille|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|veinte|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien|ciento|mil|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig))";
const TIMES =
  "(?:[×*÷]|x|times|fois|mal|multipli(?:é|ed) (?:par|by)|multiplicado por|divid(?:ed by|ido (?:por|entre|en)?)|divisé par|geteilt durch)";
const SUM = new RegExp(
  `(?<![\\p{L}\\d])${NUMBER}\\s*(?:(?:%|por ciento|pour cents?|percent|per cent|prozent)\\s*(?:de|del|d'|of|von)|${TIMES})\\s*(?:los |las |les |the )?${NUMBER}(?![\\p{L}\\d])`,
  "iu",
);

/** Sums are short; what is long brings its own text. */
const MAX_CHARS = 200;

export function isArithmetic(turn: string): boolean {
  return turn.length <= MAX_CHARS && SUM.test(turn);
}
