/* GNOME Shell 45 and later: extensions are modules. Written by `activityd gnome install-extension`. */
import Gio from "gi://Gio";
import GLib from "gi://GLib";
import { Extension } from "resource:///org/gnome/shell/extensions/extension.js";

//{reporter}

export default class FocusExtension extends Extension {
  enable() {
    this._reporter = new FocusReporter();
    this._reporter.enable();
  }

  disable() {
    this._reporter.disable();
    this._reporter = null;
  }
}
