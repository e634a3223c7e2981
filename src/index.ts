export type { ActivityApi } from "./api.ts";
