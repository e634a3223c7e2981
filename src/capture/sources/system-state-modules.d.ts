/** The two parts of `systeminformation` that are loaded; the whole package costs seven megabytes more. */
declare module "systeminformation/lib/memory.js" {
  import type { mem } from "systeminformation";

  const memory: { readonly mem: typeof mem };
  export default memory;
}

declare module "systeminformation/lib/battery.js" {
  import type { battery } from "systeminformation";

  // Unlike the others this part is the function itself.
  const readBattery: typeof battery;
  export default readBattery;
}
