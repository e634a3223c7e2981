// @ts-check
/**
 * Mutants that are the same program to every caller, each with the reason. One that is killed after all, or
 * whose line is gone, has no place here.
 */

/** @type {readonly { file: string, code: string, from: string, to: string, why: string }[]} */
export const EQUIVALENT = [];
