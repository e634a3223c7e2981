const NAME = "org.activityd.Focus";
const PATH = "/org/activityd/Focus";
const FACTS = ["b focused", "s title", "s app", "u pid", "u window"].map((fact) => fact.split(" "));
const INTERFACE = `<node><interface name="${NAME}">
  <method name="Get">${FACTS.map(([type, name]) => `<arg type="${type}" name="${name}" direction="out"/>`).join("")}</method>
  <signal name="Changed">${FACTS.map(([type, name]) => `<arg type="${type}" name="${name}"/>`).join("")}</signal>
</interface></node>`;

/** Titles are told at once and then not again for this long. */
const TITLE_PAUSE_MS = 500;

/** Tells on the session bus which window has the focus, and nothing else. */
class FocusReporter {
  enable() {
    this._window = null;
    this._windowSignals = [];
    this._pauseId = 0;
    this._changed = false;
    this._exported = Gio.DBusExportedObject.wrapJSObject(INTERFACE, this);
    this._exported.export(Gio.DBus.session, PATH);
    this._displaySignal = global.display.connect("notify::focus-window", () => this._follow());
    this._follow();
    // Last, so that whoever sees the name can ask.
    this._nameId = Gio.bus_own_name_on_connection(
      Gio.DBus.session,
      NAME,
      Gio.BusNameOwnerFlags.NONE,
      null,
      null,
    );
  }

  disable() {
    Gio.bus_unown_name(this._nameId);
    global.display.disconnect(this._displaySignal);
    this._leave();
    if (this._pauseId !== 0) GLib.source_remove(this._pauseId);
    this._pauseId = 0;
    this._exported.unexport();
    this._exported = null;
  }

  /** The D-Bus method. */
  Get() {
    const window = this._window;
    if (window === null) return [false, "", "", 0, 0];
    const app =
      window.get_wm_class() ||
      window.get_gtk_application_id() ||
      window.get_sandboxed_app_id() ||
      "";
    // The process of a window from another machine means nothing here.
    const pid = window.is_remote?.() ? 0 : Math.max(0, window.get_pid());
    return [true, window.get_title() || "", app, pid, window.get_stable_sequence()];
  }

  _follow() {
    this._leave();
    this._window = global.display.focus_window;
    if (this._window !== null) {
      this._windowSignals = [
        this._window.connect("notify::title", () => this._onDetail()),
        this._window.connect("notify::wm-class", () => this._onDetail()),
      ];
    }
    this._tell();
  }

  _leave() {
    for (const id of this._windowSignals) this._window.disconnect(id);
    this._windowSignals = [];
    this._window = null;
  }

  _onDetail() {
    if (this._pauseId !== 0) {
      this._changed = true;
      return;
    }
    this._tell();
    this._pause();
  }

  _pause() {
    this._pauseId = GLib.timeout_add(GLib.PRIORITY_DEFAULT, TITLE_PAUSE_MS, () => {
      this._pauseId = 0;
      if (this._changed) {
        this._tell();
        this._pause();
      }
      return GLib.SOURCE_REMOVE;
    });
  }

  _tell() {
    this._changed = false;
    const types = `(${FACTS.map(([type]) => type).join("")})`;
    this._exported.emit_signal("Changed", new GLib.Variant(types, this.Get()));
  }
}
