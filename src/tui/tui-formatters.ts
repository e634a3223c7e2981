/** What the owner sees of a turn that carries only its string: the display half of the marker contract. */
import { type OwnerText, type RawTurn, stripTurn } from "../context/turn.ts";

/**
 * The owner's text without the injected context before it: the whole leading run of `System: ` lines and
 * heading blocks in any order, and the blank lines between and after them. Without such a run the text
 * comes back byte for byte, but for the one backslash with which an owner's look-alike was escaped.
 *
 * Call it once, on the whole text, on user turns only; where `ownerText` was stored, show that instead.
 */
export function stripLeadingSystemContext(text: RawTurn): OwnerText {
  return stripTurn(text);
}
