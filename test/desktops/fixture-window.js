// A window whose title is the content of a file, as it is and as it changes. Run by gjs.
imports.gi.versions.Gtk = "3.0";
const { GLib, Gtk } = imports.gi;
const [file] = ARGV;

function readTitle() {
  const [, bytes] = GLib.file_get_contents(file);
  return new TextDecoder().decode(bytes);
}

// The compositor gets this as the application's id.
GLib.set_prgname("fixture");
Gtk.init(null);
const window = new Gtk.Window({ default_width: 300, default_height: 200 });
window.set_title(readTitle());
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 10, () => {
  const title = readTitle();
  if (title !== window.get_title()) window.set_title(title);
  return GLib.SOURCE_CONTINUE;
});
window.show_all();
Gtk.main();
