/** A cluster whose network is cut: what the side with the most servers takes is all that counts. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { carry, print } from "./carrying.ts";
import { openCluster, type ClusterRig } from "./cluster-rig.ts";
import { openNamespaces, type Namespaces } from "./namespaces.ts";

const ADA = "a0".repeat(16);
const BOB = "b0".repeat(16);

describe("three servers that can be parted", () => {
  let namespaces: Namespaces;
  let cluster: ClusterRig;

  beforeAll(async () => {
    cluster = await openCluster({
      openNamespaces: async (folder) => {
        namespaces = await openNamespaces(folder, 3);
        return namespaces;
      },
    });
  });

  afterAll(async () => cluster?.close());

  it("lose nothing when the leader is cut off from the others and finds them again", async () => {
    const from = await cluster.open("laptop", ADA);
    const to = await cluster.open("desktop", BOB);
    let cut = 0;
    const carried = await carry({
      from,
      to,
      device: ADA,
      records: 2_000,
      during: {
        800: async () => {
          cut = await cluster.leader();
          await namespaces.part(cut);
        },
        1_600: async () => namespaces.join(cut),
      },
    });
    print("leader cut off", carried);
    expect(carried).toMatchObject({
      sent: 2_000,
      received: 2_000,
      lost: 0,
      doubled: 0,
      inOrder: true,
    });
  }, 120_000);
});
