/** What editors and players say in ActivityWatch's words, in ours. Pure; nothing here has met the privacy gate. */
import type { EditorSample, MediaSample } from "../capture/events.ts";
import type { JsonObject } from "./wire.ts";

/** Null when the editor names no file. */
export function editorOf(
  bucket: { readonly id: string; readonly client: string },
  data: JsonObject,
): EditorSample | null {
  const file = known(data, "file");
  if (file === null) return null;
  const project = known(data, "project");
  return {
    app: known(data, "editor") ?? /^aw-watcher-([^_]+)/.exec(bucket.id)?.[1] ?? bucket.client,
    file: lastComponent(file),
    project: project === null ? null : lastComponent(project),
    branch: known(data, "branch"),
    language: known(data, "language"),
  };
}

/** Null when nothing is said of what plays. Watchers of players only report while something does. */
export function mediaOf(data: JsonObject): MediaSample | null {
  const title = known(data, "title");
  const artist = known(data, "artist");
  if (title === null && artist === null) return null;
  const player = known(data, "player") ?? (data["uri"] === undefined ? "player" : "Spotify");
  return { player, title, artist, playing: true };
}

/** Watchers write "unknown" where they know nothing. */
function known(data: JsonObject, key: string): string | null {
  const value = data[key];
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" || text.toLowerCase() === "unknown" ? null : text;
}

function lastComponent(path: string): string {
  const parts = path.replace(/[/\\]+$/, "").split(/[/\\]/);
  return parts.at(-1) ?? path;
}
