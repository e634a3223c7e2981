// A stand-in for GNOME Shell 45 and later: loads the extension as a module in a real GJS, with real D-Bus.
// Run by: gjs -m gnome-module-host.js EXTENSION FOCUS. The file FOCUS holds "ID|TITLE|CLASS" or nothing.
import Gio from "gi://Gio";
import GLib from "gi://GLib";
import System from "system";

const [extensionFile, focusFile] = ARGV;

class Emitter {
  constructor() {
    this.handlers = new Map();
    this.nextId = 1;
  }

  connect(signal, run) {
    this.handlers.set(this.nextId, { signal, run });
    return this.nextId++;
  }

  disconnect(id) {
    this.handlers.delete(id);
  }

  notify(signal) {
    for (const handler of this.handlers.values()) if (handler.signal === signal) handler.run();
  }
}

class Window extends Emitter {
  constructor(id, title, className) {
    super();
    this.id = id;
    this.title = title;
    this.className = className;
  }

  get_title() {
    return this.title;
  }

  get_wm_class() {
    return this.className;
  }

  get_pid() {
    return new Gio.Credentials().get_unix_pid();
  }

  get_stable_sequence() {
    return this.id;
  }
}

class Display extends Emitter {
  focus_window = null;

  follow(text) {
    if (text === "") {
      this.focus_window = null;
      this.notify("notify::focus-window");
      return;
    }
    const [id, title, className] = text.split("|");
    if (this.focus_window?.id === Number(id)) {
      this.focus_window.title = title;
      this.focus_window.notify("notify::title");
    } else {
      this.focus_window = new Window(Number(id), title, className);
      this.notify("notify::focus-window");
    }
  }
}

const display = new Display();
globalThis.global = { display };
const { default: Extension } = await import(`file://${extensionFile}`);
const extension = new Extension();
extension.enable();
Gio.bus_own_name_on_connection(Gio.DBus.session, "org.gnome.Shell", 0, null, null);

let seen = null;
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 10, () => {
  const [, bytes] = GLib.file_get_contents(focusFile);
  const text = new TextDecoder().decode(bytes);
  if (text === "end") {
    extension.disable();
    System.exit(0);
  }
  if (text !== seen) display.follow(text);
  seen = text;
  return GLib.SOURCE_CONTINUE;
});
new GLib.MainLoop(null, false).run();
