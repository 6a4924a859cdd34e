import { describe, expect, test } from "vitest";
import { isSecretInProse, isSecretKey } from "./secret-keys.ts";
import { cpuMs } from "../../test/lab/cpu-ms.ts";

describe("a key of a configuration", () => {
  test.each(
    "password Password bgpPassword BGP_PASSWORD passwd passphrase pwd PWD db_pwd dbPwd rootpwd pass dbpass user_pass auth basicAuth proxy-auth oauth token tokens authToken API_TOKEN key api_key apiKey APIKey apikey apiKeys privateKey private-key wireguardKey presharedKey psk encryption_key clientSecret client-secret secret secrets secretId credential credentials creds cookie sessionCookie dsn mysqlDSN jwt connectionString authorization bearer passwordHash keyData client-key-data authHeader token2 s3SecretKey".split(
      " ",
    ),
  )("%s names a secret", (key) => expect(isSecretKey(key)).toBe(true));

  test.each(
    "keys publicKey public_key pubkey partitionKey pkey pKey sortKey keepalive keepAlive keyspace keyType keyId accessKeyId passwordFile tokenPath secretName secretRef tokenTtl authMode authUrl passThrough passthru bypass compass author authority monkey hotkey mtu name type subnet tokenEndpoint connection".split(
      " ",
    ),
  )("%s names none", (key) => expect(isSecretKey(key)).toBe(false));

  test("in prose only unmistakable words begin a secret", () => {
    expect(["password", "token", "client-secret", "Cookie", "api-key"].map(isSecretInProse)).toEqual(Array(5).fill(true));
    expect(["auth", "key", "pass"].map(isSecretInProse)).toEqual([false, false, false]);
  });

  test("a long key takes no longer than a short one", () => {
    const started = cpuMs();
    for (const key of ["A".repeat(1_000_000), "aA".repeat(500_000), `key${"-".repeat(1_000_000)}`]) isSecretKey(key);
    expect(cpuMs() - started).toBeLessThan(200);
  });
});
