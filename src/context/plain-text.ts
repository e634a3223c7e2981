/** Placeholder so that the types of the frame stand; the cleaning follows. */
export interface UntrustedSpan {
  readonly start: number;
  readonly end: number;
}
