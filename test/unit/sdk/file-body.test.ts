import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FileRef } from '../../../worker/sdk/index.ts';
import { fileBody } from '../../../worker/sdk/platform/file-body.ts';

const FILE: FileRef = { id: '1', name: 'a.txt', mime: 'text/plain', bytes: 0 };
const LINK = { maxFileBytes: 5 };

describe('fileBody', () => {
  it('gives the bytes of an answer, none of one without a body, and no length is no reason to refuse', async () => {
    const textOf = async (response: Response): Promise<string> =>
      new Response(await fileBody(response, FILE, LINK)).text();

    assert.equal(await textOf(new Response('bytes', { headers: { 'content-length': '5' } })), 'bytes');
    assert.equal(await textOf(new Response('more than five')), 'more than five');
    assert.equal(await textOf(new Response(null, { status: 204 })), '');
    assert.equal(await textOf(new Response('bytes', { headers: { 'content-length': 'many' } })), 'bytes');
  });

  it('reads nothing of an answer that says it is larger than the host takes', async () => {
    let end: unknown;
    const body = new ReadableStream<Uint8Array>({
      cancel: () => {
        end = 'cancelled';
      },
    });

    await assert.rejects(fileBody(new Response(body, { headers: { 'content-length': '6' } }), FILE, LINK), {
      code: 'file_too_large',
      message: 'a.txt has more than files.maxFileBytes, 5',
    });
    assert.equal(end, 'cancelled');
  });
});
