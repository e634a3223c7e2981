/** A service on a bus, for tests: it owns names, answers methods, keeps properties and emits signals. */
import { EventEmitter } from "node:events";
import { Message, MessageType, sessionBus, Variant } from "@jellybrick/dbus-next";

export { Variant };

export type Properties = Record<string, Variant>;

export interface BusService {
  readonly uniqueName: string;
  readonly own: (name: string) => Promise<void>;
  readonly release: (name: string) => Promise<void>;
  /** Answers calls of `interface.member` (on any path) with a body of this signature. */
  readonly answer: (
    method: string,
    signature: string,
    body: (args: readonly unknown[], message: Message) => unknown[],
  ) => void;
  /** Answers calls of `interface.member` with an error. */
  readonly refuse: (method: string, errorName: string) => void;
  /** Serves Get and GetAll; change the record through `change`. */
  readonly serve: (path: string, iface: string, properties: Properties) => void;
  /** Sets properties and emits PropertiesChanged; undefined removes one and names it invalidated. */
  readonly change: (
    path: string,
    iface: string,
    changed: Record<string, Variant | undefined>,
  ) => void;
  readonly emit: (
    path: string,
    iface: string,
    member: string,
    signature?: string,
    body?: unknown[],
    destination?: string,
  ) => void;
  readonly call: (
    destination: string,
    path: string,
    iface: string,
    member: string,
    signature?: string,
    body?: unknown[],
  ) => Promise<unknown[]>;
  readonly close: () => void;
}

const PROPERTIES = "org.freedesktop.DBus.Properties";

export async function openBusService(address: string, ...names: string[]): Promise<BusService> {
  const bus = sessionBus({ busAddress: address });
  // Tests kill the bus under their fakes: that is no failure of the fake.
  EventEmitter.prototype.on.call(bus, "error", () => {});
  await new Promise<void>((resolve) => bus.once("connect", () => resolve()));
  const methods = new Map<string, (message: Message) => Message>();
  const served = new Map<string, Properties>();

  bus.addMethodHandler((message: Message) => {
    const reply = methods.get(`${message.interface}.${message.member}`);
    if (reply === undefined) return false;
    bus.send(reply(message));
    return true;
  });
  const propertiesOf = (message: Message): Properties =>
    served.get(`${message.path} ${String(message.body[0])}`) ?? {};
  methods.set(`${PROPERTIES}.GetAll`, (message) =>
    Message.newMethodReturn(message, "a{sv}", [propertiesOf(message)]),
  );
  methods.set(`${PROPERTIES}.Get`, (message) => {
    const value = propertiesOf(message)[String(message.body[1])];
    return value === undefined
      ? Message.newError(message, "org.freedesktop.DBus.Error.UnknownProperty", "no such property")
      : Message.newMethodReturn(message, "v", [value]);
  });

  const service: BusService = {
    uniqueName: bus.name ?? "",
    own: async (name) => {
      await bus.requestName(name, 0);
    },
    release: async (name) => {
      await bus.releaseName(name);
    },
    answer: (method, signature, body) => {
      methods.set(method, (message) =>
        Message.newMethodReturn(message, signature, body(message.body, message)),
      );
    },
    refuse: (method, errorName) => {
      methods.set(method, (message) => Message.newError(message, errorName, "refused by the test"));
    },
    serve: (path, iface, properties) => {
      served.set(`${path} ${iface}`, properties);
    },
    change: (path, iface, changed) => {
      const properties = { ...served.get(`${path} ${iface}`) };
      const given: Properties = {};
      const invalidated: string[] = [];
      for (const [name, value] of Object.entries(changed)) {
        if (value === undefined) {
          delete properties[name];
          invalidated.push(name);
        } else {
          properties[name] = value;
          given[name] = value;
        }
      }
      served.set(`${path} ${iface}`, properties);
      service.emit(path, PROPERTIES, "PropertiesChanged", "sa{sv}as", [iface, given, invalidated]);
    },
    emit: (path, iface, member, signature = "", body = [], destination) => {
      bus.send(
        new Message({
          type: MessageType.SIGNAL,
          path,
          interface: iface,
          member,
          signature,
          body,
          ...(destination === undefined ? {} : { destination }),
        }),
      );
    },
    call: async (destination, path, iface, member, signature = "", body = []) => {
      const reply = await bus.call(
        new Message({ destination, path, interface: iface, member, signature, body }),
      );
      return reply?.body ?? [];
    },
    close: () => bus.disconnect(),
  };
  for (const name of names) await service.own(name);
  return service;
}
