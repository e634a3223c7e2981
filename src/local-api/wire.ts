/**
 * The names that both ends of the socket use. It promises to import no library, so that the client starts
 * as fast as bare Node.
 */

/** Both sides send their version here, so that either can say that the other is older or newer. */
export const VERSION_HEADER = "activityd-version";

/** The two names a client may call the daemon by. Anything else is a web page that found a way in. */
export const ALLOWED_HOSTS: readonly string[] = ["localhost", "activityd"];
