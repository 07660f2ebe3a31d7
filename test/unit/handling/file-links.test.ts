// Links to files: what is signed, where there are links, and every way to change one.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { type FileLink, FileLinks, linkKeyIn } from '../../../worker/files/file-links.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';

const ID = 'ab'.repeat(32);
const FILE = { id: ID, name: 'ä ../"x"\u202e\n.pdf', mime: 'application/pdf', bytes: 3 };

const configOf = (http: object): LoadedConfig['config'] =>
  ({ http: { host: '127.0.0.1', port: 8_068, base: '', ...http }, files: { linkHours: 1 } }) as never;
const PUBLIC = { config: configOf({ publicUrl: 'https://bot.example/', base: '/b' }), adapter: 'irc' };

function make(): { readonly links: FileLinks; readonly clock: ManualClock } {
  const clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'));
  return { links: new FileLinks(clock, () => Buffer.alloc(32, 7)), clock };
}

function linkOf(url: string | undefined): FileLink {
  const { pathname, searchParams } = new URL(url ?? '');
  const of = (name: string): string | undefined => searchParams.get(name) ?? undefined;
  return {
    id: pathname.split('/').at(-1) ?? '',
    name: of('name'),
    expires: of('expires'),
    signature: of('signature'),
  };
}

describe('links to files', () => {
  it('hold digest, a plain name and an end, and are taken back until then', () => {
    const { links, clock } = make();
    const url = links.urlOf(FILE, PUBLIC);
    const link = linkOf(url);

    assert.match(url ?? '', /^https:\/\/bot\.example\/b\/files\/(ab){32}\?name=/);
    assert.deepEqual(links.verify(link), { id: ID, name: 'ä .._"x".pdf' });
    clock.moveTo(clock.now() + 3_599_000);
    assert.deepEqual(links.verify(link).id, ID);
    clock.moveTo(clock.now() + 1_000);
    assert.throws(() => links.verify(link), { code: 'link_expired' });
  });

  it('are void when anything of them is changed, or spelled differently', () => {
    const { links } = make();
    const link = linkOf(links.urlOf(FILE, PUBLIC));
    const { expires = '', signature = '' } = link;
    const later = String(Number(expires) + 1);
    const last = signature.at(-1) ?? '';
    // The last letter of 43 holds two bits that a lenient decoder ignores.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const sibling = alphabet[alphabet.indexOf(last) ^ 1] ?? '';
    const changes: readonly Partial<FileLink>[] = [
      { id: 'cd'.repeat(32) },
      { id: ID.toUpperCase() },
      { id: '../../.env' },
      { id: '' },
      { name: 'other.pdf' },
      { name: undefined },
      { expires: later },
      { expires: `0${expires}` },
      { expires: `${expires}.0` },
      { expires: '1e10' },
      { expires: '0x7fffffff' },
      { expires: ` ${expires}` },
      { expires: undefined },
      { signature: undefined },
      { signature: '' },
      { signature: signature.slice(0, -1) },
      { signature: `${signature}=` },
      { signature: signature.slice(0, -1) + sibling },
      { signature: `${signature}A` },
      { signature: 'A'.repeat(43) },
    ];
    for (const change of changes)
      assert.throws(() => links.verify({ ...link, ...change }), { code: 'link_invalid' }, JSON.stringify(change));
    const other = new FileLinks(new ManualClock(0), () => Buffer.alloc(32, 8));
    assert.throws(() => other.verify(link), { code: 'link_invalid' });
  });

  it('are made where people reach the host, and for stored files alone', () => {
    const { links } = make();
    const starts = (http: object, adapter: string): string | undefined =>
      links.urlOf(FILE, { config: configOf(http), adapter })?.split('/files/')[0];

    assert.equal(starts({}, 'irc'), undefined);
    assert.equal(starts({}, 'sandbox'), 'http://127.0.0.1:8068');
    assert.equal(starts({ host: '::1', base: '/b' }, 'sandbox'), 'http://[::1]:8068/b');
    for (const host of ['0.0.0.0', '::', '::0']) assert.equal(starts({ host }, 'sandbox'), undefined);
    assert.equal(starts({ publicUrl: 'https://x.example' }, 'sandbox'), 'https://x.example');
    assert.equal(links.urlOf({ ...FILE, id: 'of-the-platform' }, PUBLIC), undefined);
  });

  it('have a key of their own, made once, for the owner alone; a damaged one is made anew', (t: TestContext) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-links-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'link.key');

    const key = linkKeyIn(path);

    assert.equal(key.length, 32);
    assert.deepEqual(linkKeyIn(path), key);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    writeFileSync(path, 'half');
    assert.notDeepEqual(linkKeyIn(path), key);
    assert.equal(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64url').length, 32);
    assert.throws(() => linkKeyIn(join(folder, 'none', 'link.key')), { code: 'storage_unavailable' });
  });
});
