import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import type { FileRef } from '../../../worker/sdk/index.ts';
import { openSized } from '../../../worker/sdk/platform/sized-file.ts';

const FILE: FileRef = { id: 'root/test:test|1', name: 'a.txt', mime: 'text/plain', bytes: 0 };

describe('openSized', () => {
  it('reads a file whose size is known once, and one of a platform twice', async () => {
    const known = fileOf(5, 'bytes', 'bytes');
    assert.equal((await openSized(FILE, known)).bytes, 5);
    assert.equal(known.reads, 0);

    const there = fileOf(undefined, 'bytes', 'bytes');
    const { bytes, content } = await openSized(FILE, there);
    assert.deepEqual([bytes, await textOf(content())], [5, 'bytes']);
    assert.equal(there.reads, 2);
  });

  it('gives no file of another size than it told', async () => {
    for (const second of ['byte', 'bytes!']) {
      const { content } = await openSized(FILE, fileOf(undefined, 'bytes', second));
      await assert.rejects(textOf(content()), /another size/);
    }
  });
});

/** What each reading gives. */
function fileOf(bytes: number | undefined, ...texts: readonly string[]) {
  const link = {
    reads: 0,
    openFile: async () => ({
      bytes,
      content: () => Readable.from([Buffer.from(texts[link.reads++] ?? '')]),
    }),
  };
  return link;
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
