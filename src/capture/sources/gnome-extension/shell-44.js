/* GNOME Shell up to 44: extensions are scripts. Written by `activityd gnome install-extension`. */
const { Gio, GLib } = imports.gi;

//{reporter}

/* exported init */
function init() {
  return new FocusReporter();
}
