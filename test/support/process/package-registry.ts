// A package registry on loopback that knows a few packages: enough for npm to make a lockfile.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../temporary-project.ts';

export interface KnownPackage {
  readonly name: string;
  readonly version: string;
  readonly bin?: Readonly<Record<string, string>>;
}

/** Its address, until the test ends. */
export async function packageRegistry(t: Cleanup, packages: readonly KnownPackage[]): Promise<string> {
  const server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? '').slice(1));
    const found = packages.find((known) => known.name === name);
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(
        found === undefined ? { error: 'not found' } : document(found, `http://${request.headers.host ?? ''}`),
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function document({ name, version, bin }: KnownPackage, address: string): object {
  const dist = {
    tarball: `${address}/${name}/-/package-${version}.tgz`,
    integrity: `sha512-${Buffer.alloc(64).toString('base64')}`,
  };
  return {
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { name, version, dist, ...(bin === undefined ? {} : { bin }) } },
  };
}
