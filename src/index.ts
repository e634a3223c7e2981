export type { ActivityApi } from "./api.ts";
export { connectActivity, type ConnectOptions } from "./local-api/client.ts";
