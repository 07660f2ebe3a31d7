import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createLog } from '../../../shared/log/logger.ts';
import { escapeText, maskKeys, SecretRegistry } from '../../../shared/log/redaction.ts';
import { until } from '../../support/until.ts';

const SECRET = 'ab+/ "quoted" ö\\secret~9';

function openLog(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'runtime.log');
  const log = createLog({ destination: file, base: { project: 'p1', runtimeId: 'r1' } });
  return { log, file, lines: (name = file) => readFileSync(name, 'utf8').trimEnd().split('\n') };
}

describe('the log', () => {
  it('writes one JSON line with ISO time, level name, project and runtimeId, in a file of mode 0600', (t) => {
    const { log, file, lines } = openLog(t);

    log.logger.info({ endpoint: 'root/irc:irc' }, 'endpoint online');

    const line = JSON.parse(lines()[0] ?? '');
    assert.equal(new Date(line.time).toISOString(), line.time);
    assert.deepEqual(
      { ...line, time: '' },
      { level: 'info', time: '', project: 'p1', runtimeId: 'r1', endpoint: 'root/irc:irc', msg: 'endpoint online' },
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('names the project as the configuration does, in lines of a logger made before and in printed text', (t) => {
    const { log, lines } = openLog(t);
    const child = log.logger.child({ plugin: 'root/a' });
    log.logger.info('before');

    log.setProject('shop');
    child.info('after');
    log.text('printed\n', { level: 'info', source: 'stdout' });

    assert.deepEqual(
      lines().map((line) => JSON.parse(line).project),
      ['p1', 'shop', 'shop'],
    );
    assert.ok(
      lines().every((line) => line.split('"project"').length === 2),
      'the field is there once',
    );
  });

  it('masks a secret in message, fields, errors, URLs, JSON in JSON, hex and base64 of any alignment (LOGGER-2, REDACTION-1)', (t) => {
    const { log, lines } = openLog(t);
    log.secrets.add([SECRET]);
    const encoded = ['', 'u', 'us', 'use'].map((before) => Buffer.from(`${before}:${SECRET}:after`).toString('base64'));

    log.logger.info(
      {
        plain: SECRET,
        nested: JSON.stringify({ a: SECRET }),
        url: `https://x/?t=${encodeURIComponent(SECRET)}`,
        hex: Buffer.from(SECRET).toString('hex'),
        encoded,
      },
      `said ${SECRET}`,
    );
    log.logger.error(new Error(`failed with ${SECRET}`));

    for (const line of lines()) {
      assert.doesNotThrow(() => JSON.parse(line));
      assert.match(line, /\[secret\]/);
      for (const part of [
        'quoted',
        'ab+/',
        'secret~9',
        'ab%2B',
        Buffer.from(SECRET).toString('hex'),
        Buffer.from(SECRET).toString('base64').slice(4, 20),
      ])
        assert.equal(line.includes(part), false, `${part} in ${line}`);
    }
  });

  it('masks by key, at any depth, whatever the value (REDACTION-2)', () => {
    const line = JSON.stringify({
      token: 'a',
      nested: { apiKey: 'b"c\\', 'set-cookie': 'd', tokens: 5 },
      headers: { Authorization: 'Bearer e' },
      text: 'token',
      note: 'the "token":"y" of a text',
      credentials: 'f',
      notify: 'g',
    });

    assert.deepEqual(JSON.parse(maskKeys(line)), {
      token: '[secret]',
      nested: { apiKey: '[secret]', 'set-cookie': '[secret]', tokens: 5 },
      headers: { Authorization: '[secret]' },
      text: 'token',
      note: 'the "token":"y" of a text',
      credentials: '[secret]',
      notify: 'g',
    });
  });

  it('keeps a line break, ANSI sequences, C1 and bidi marks from being obeyed (REDACTION-3)', (t) => {
    const { log, lines } = openLog(t);
    const hostile = 'x\n{"level":"error","msg":"forged"}\u001b[2J\u009b31m\u202egnp.exe\u2028';

    log.logger.info({ hostile }, hostile);

    assert.equal(lines().length, 1);
    assert.equal(JSON.parse(lines()[0] ?? '').hostile, hostile);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    assert.doesNotMatch(lines()[0] ?? '', /[\u0000-\u001f\u007f-\u009f\u202e\u2028]/);
    assert.equal(escapeText('a\u001b[2J\tb\u202e'), 'a\\u001b[2J\tb\\u202e');
  });

  it('writes a line of whatever was thrown, also where reading it throws', (t) => {
    const { log, lines } = openLog(t);
    const unreadable = (of: object, key: string) =>
      Object.defineProperty(of, key, { enumerable: true, get: () => assert.fail('read') });
    let deep = new Error('the first');
    for (let n = 0; n < 20_000; n += 1) deep = new Error('above', { cause: deep });
    const thrown: readonly unknown[] = [
      Object.freeze(new Error('frozen')),
      unreadable(new Error('a'), 'message'),
      unreadable(new Error('a'), 'stack'),
      unreadable(new Error('a'), 'detail'),
      unreadable({}, 'message'),
      new Proxy({}, { get: () => assert.fail('read'), has: () => assert.fail('read') }),
      Object.create(null),
      deep,
    ];

    for (const err of thrown) log.logger.error({ err, n: 1 }, 'failed');

    const written = lines().map(
      (line) => JSON.parse(line) as { readonly msg: string; readonly err: { stack?: string } },
    );
    assert.deepEqual(
      written.map(({ msg }) => msg),
      thrown.map(() => 'failed'),
    );
    assert.match(written[0]?.err.stack ?? '', /Error: frozen\n +at /);
  });

  it('writes to the new file after a rotation, and loses nothing (LOGGER-4)', async (t) => {
    const { log, file, lines } = openLog(t);
    log.logger.info('one');
    renameSync(file, `${file}.1`);
    log.logger.info('two');

    log.reopen();
    log.logger.info('three');

    assert.equal(existsSync(file), true);
    assert.deepEqual([lines(`${file}.1`).length, lines().length], [2, 1]);
  });

  it('says how many lines were lost once a full disk takes lines again, and never throws (LOGGER-3)', {
    skip: existsSync('/dev/full') ? false : 'no /dev/full',
  }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'runtime.log');
    symlinkSync('/dev/full', file);
    const log = createLog({ destination: file, base: { project: 'p1' } });
    for (let n = 0; n < 3_000; n += 1) log.logger.info({ n }, 'x'.repeat(1_000));
    rmSync(file);

    log.reopen();
    log.logger.info('space again');

    const last = await until(
      () =>
        readFileSync(file, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
          .find((line) => line.msg === 'log lines were lost'),
      { what: 'the line about lost lines' },
    );
    const landed = readFileSync(file, 'utf8').trimEnd().split('\n').length - 2;
    assert.equal(landed + last.lostLines, 3_000);
    assert.equal(last.reason, 'ENOSPC');
    assert.equal(log.counts()['info'], 3_001);
  });

  it('turns text that was printed into lines of its own, stamped and without a secret, whatever is in it', (t) => {
    const { log, lines } = openLog(t);
    log.secrets.add(['planted-secret-1']);
    const plain = Array.from({ length: 2_000 }, (_, n) => `plain ${n} ${'x'.repeat(n % 90)}`);
    const hostile = [
      'a "quoted" \\ line',
      '\u001b[2J',
      'bidi \u202e ö',
      'with planted-secret-1 in it',
      '',
      'y'.repeat(100_000),
    ];

    log.text(`${plain.join('\n')}\n`, { level: 'info', source: 'stdout' });
    log.text(`${hostile.join('\n')}\n`, { level: 'warn', source: 'stderr' });

    const found = lines().map((line) => JSON.parse(line));
    const expected = [...plain, ...hostile.filter((line) => line !== '')].map((line) =>
      line.replace('planted-secret-1', '[secret]'),
    );
    assert.deepEqual(
      found.map(({ msg }) => msg),
      expected,
    );
    const { time, msg: _, ...fields } = found.at(-1);
    assert.deepEqual(fields, { level: 'warn', project: 'p1', runtimeId: 'r1', source: 'stderr' });
    assert.equal(new Date(time).toISOString(), time);
    assert.deepEqual([log.counts()['info'], log.counts()['warn']], [2_000, 5]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    assert.doesNotMatch(lines().join(''), /[\u0000-\u001f\u007f-\u009f\u202e]/);
    assert.equal(log.recent(0).lines.length, 1_000);
  });

  it('follows a change of level and counts lines by level', (t) => {
    const { log, lines } = openLog(t);
    log.logger.debug('unseen');

    log.setLevel('debug');
    log.logger.debug('seen');

    assert.equal(lines().length, 1);
    assert.equal(log.counts()['debug'], 1);
  });
});

describe('SecretRegistry', () => {
  it('leaves alone what is too short to be told from a word', () => {
    const registry = new SecretRegistry();
    registry.add(['', 'abc']);

    assert.equal(registry.mask('abc abc'), 'abc abc');
  });

  it('masks a line of a key that has several, but none that all keys have (REDACTION-1)', () => {
    const registry = new SecretRegistry();
    const [first, second] = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'];
    registry.add([`-----BEGIN PRIVATE KEY-----\r\n${first}\r\n${second}\r\nshort\r\n-----END PRIVATE KEY-----\r\n`]);

    assert.equal(
      registry.mask(`-----BEGIN PRIVATE KEY-----\n${first}, then ${second}, in short`),
      '-----BEGIN PRIVATE KEY-----\n[secret], then [secret], in short',
    );
  });

  it('covers a secret as long as it is, in the bytes of a file, too', () => {
    const registry = new SecretRegistry();
    registry.add([SECRET, Buffer.from(SECRET).toString('latin1')]);
    const bytes = Buffer.from(`before ${SECRET} after`).toString('latin1');

    assert.equal(registry.cover(bytes), `before ${'*'.repeat(Buffer.byteLength(SECRET))} after`);
  });

  it('tells who follows it what is there and what comes, each once', () => {
    const registry = new SecretRegistry();
    registry.add(['first']);
    const told: (readonly string[])[] = [];

    registry.follow((values) => told.push(values));
    registry.add(['first', 'abc']);
    registry.add(['second', 'third', 'first']);

    assert.deepEqual(told, [['first'], ['second', 'third']]);
  });
});
