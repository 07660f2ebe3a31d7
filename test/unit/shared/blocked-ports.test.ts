// Ports that this Node's fetch refuses, whoever listens there.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isBlockedPort } from '../../../shared/process/blocked-ports.ts';

it('has every port that fetch refuses, and no common one beside them', async () => {
  // In the place of a connection, which comes after the look at the port.
  const dispatcher = {
    dispatch() {
      throw new Error('is asked');
    },
  };
  const refuses = async (port: number): Promise<boolean> => {
    const init = { dispatcher } as unknown as RequestInit;
    const error: unknown = await fetch(`http://127.0.0.1:${port}/`, init).catch((cause: unknown) => cause);
    return String((error as Error).cause).includes('bad port');
  };
  const refused: number[] = [];
  // All that it refuses lie below; above, a port in a hundred would show a range that is new.
  for (let port = 1_024; port < 65_536; port += port < 11_000 ? 1 : 97) if (await refuses(port)) refused.push(port);

  assert.ok(refused.length > 10, String(refused));
  assert.deepEqual(
    refused.filter((port) => !isBlockedPort(port)),
    [],
  );
  assert.deepEqual([3_000, 8_080, 8_088].filter(isBlockedPort), []);
});
