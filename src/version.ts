/** The version of this program, once. A test compares it with package.json, so that no file is read at start. */
export const VERSION = "0.1.0";
