// The texts of the repository against what there is: links, names of tests, keys, metrics, event types, and how long a page may be.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { configSchema } from '../../shared/config/schema/schema.ts';
import { EVENT_TYPES } from '../../worker/events/event-types.ts';
import { ROUTES } from '../../worker/http/routes/route-table.ts';
import { guideBlocks } from '../support/deploy/guide-blocks.ts';
import { ROOT } from './source-tree.ts';

/** Title, an empty line, and what was not run. */
const HEAD_LINES = 3;

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
/** What git knows, and what is new and not ignored; of a copy without git, what is known to be there. */
const files = existsSync(join(ROOT, '.git'))
  ? execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' })
      .split('\0')
      .filter((name) => name !== '' && existsSync(join(ROOT, name)))
  : undefined;
const pages = (files ?? ['README.md', 'ARCHITECTURE.md']).filter((name) => name.endsWith('.md'));

function* keysOf(schema: Schema, path: readonly string[] = []): Generator<string> {
  if (schema.properties === undefined && path.length > 0) yield path.join('.');
  for (const [name, inner] of Object.entries(schema.properties ?? {})) yield* keysOf(inner, [...path, name]);
}

describe('texts', () => {
  it('have links that lead to a file', () => {
    const broken = pages.flatMap((page) =>
      [
        ...read(page)
          .replaceAll(/```[\s\S]*?```/g, '')
          .matchAll(/\]\((?!https?:|#)([^)#]+)/g),
      ]
        .map(([, link = '']) => join(dirname(page), link))
        .filter((target) => !existsSync(join(ROOT, target)))
        .map((target) => `${page}: ${target}`),
    );

    assert.deepEqual(broken, []);
  });

  it('are no longer than a reader has time for', () => {
    const lengthOf = (name: string): number => read(name).trimEnd().split('\n').length;

    assert.ok(lengthOf('README.md') <= 120);
    assert.ok(lengthOf('ARCHITECTURE.md') <= 150);
  });
});

describe('a block of commands for operators', () => {
  it('has a name by which a kit runs it', () => {
    const kits = readdirSync(join(ROOT, 'test/kits/deploy'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => read(`test/kits/deploy/${name}`));
    // Those of containers.md are typed by a helper, too.
    const texts = [...kits, read('test/support/containers/deployed-bot.ts')];
    const named = readdirSync(join(ROOT, 'deploy/guide'))
      .filter((page) => page.endsWith('.md'))
      .flatMap((page) => guideBlocks(page).map(({ name }) => ({ page, name })));
    const runs = (text: string, page: string, name: string): boolean =>
      text.includes(`'${page}'`) && (text.includes(`'${name}'`) || (page === 'edge.md' && text.includes(', kind)')));

    assert.ok(named.length > 25);
    assert.deepEqual(
      named.filter(({ page, name }) => !texts.some((text) => runs(text, page, name))),
      [],
    );
  });
});

describe('a page with commands of a target', () => {
  const NOT_RUN = /^\*\*[^*]*\bnot run\b/imu;
  const named = readdirSync(join(ROOT, 'deploy/guide')).filter(
    (page) => page.endsWith('.md') && guideBlocks(page).some(({ text }) => /\bsvc deploy init\b/u.test(text)),
  );

  it('says within its first lines what was not run', () => {
    const heads = named.map((page) => read(`deploy/guide/${page}`).split('\n').slice(0, HEAD_LINES).join('\n'));

    assert.ok(named.length >= 6, named.join(', '));
    assert.deepEqual(
      named.filter((_, at) => !NOT_RUN.test(heads[at] ?? '')),
      [],
    );
  });

  it('has no name of a checkpoint that another project would not have, unless it says what the name stands for', () => {
    const literal = /\bsvc checkpoint \w+ c\d+\b/u;

    assert.deepEqual(
      named.filter(
        (page) =>
          guideBlocks(page).some(({ text }) => literal.test(text)) &&
          !read(`deploy/guide/${page}`).includes('`c1` stands for the name that `create` printed'),
      ),
      [],
    );
  });
});

describe('the page of keys', () => {
  const rows = read('deploy/guide/configure.md')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([a-z_]+(?:\.[a-zA-Z]+)*)`/g)].map(([, key = '']) => key),
  );
  const known = [...keysOf(configSchema as Schema)].filter((key) => key !== 'plugins');

  it('names each key of the configuration, or the section that it is in', () => {
    const missing = known.filter((key) => !named.some((one) => key === one || key.startsWith(`${one}.`)));

    assert.ok(known.length > 40, String(known.length));
    assert.deepEqual(missing, []);
  });

  it('names no key that is not there', () => {
    const wrong = named.filter(
      (one) =>
        one.includes('.') && one !== 'svc.config.yml' && !known.some((key) => key === one || key.startsWith(`${one}.`)),
    );

    assert.deepEqual(wrong, []);
  });
});

describe('the page of metrics', () => {
  it('names each metric of the host, and no other', () => {
    const source = readdirSync(join(ROOT, 'worker/metrics'))
      .map((name) => read(`worker/metrics/${name}`))
      .join('\n');
    const there = new Set([...source.matchAll(/'(svc_[a-z_]+)'/g)].map(([, name = '']) => name));
    const named = new Set(
      [...read('deploy/guide/monitor.md').matchAll(/`(svc_[a-z_]+)[`{]/g)].map(([, name = '']) => name),
    );

    assert.ok(there.size > 30);
    assert.deepEqual([...named].toSorted(), [...there].toSorted());
  });
});

describe('the guide to the interface', () => {
  const text = read('shared/api/README.md');

  it('names each route', () => {
    const paths = ROUTES.map(({ path }) => path.replaceAll(/\{(\w+)[+*]?\}/g, '{$1}'));

    assert.deepEqual(
      [...new Set(paths)].filter((path) => !text.includes(`\`${path}\``)),
      [],
    );
  });

  it('names each type of event', () => {
    assert.deepEqual(
      Object.keys(EVENT_TYPES).filter((type) => !text.includes(`\`${type}\``)),
      [],
    );
  });
});
