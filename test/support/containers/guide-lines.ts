// Commands of the guide with Debian's programs: no terminal is there, podman-compose has no `cp`, and it tells the code of a program and ends with 0.
import assert from 'node:assert/strict';
import type { Engine } from './engine.ts';

export interface Place {
  readonly path: string;
  /** Of the container. */
  readonly name: string;
  /** Waits until the host is. */
  readonly ready: () => Promise<unknown>;
}

const asHere = (line: string, name: string): string =>
  line
    .replace(/^docker compose cp svc:/u, `podman cp ${name}:`)
    .replace(/^docker compose exec svc /u, 'docker compose exec -T svc ')
    .replace(/^docker compose run --rm --no-deps svc /u, 'docker compose run --rm --no-deps -T svc ');

/** Runs the lines one after another, as a person does who waits for the host. `<digest>` is that of the last plan. Gives what each has said. */
export async function typeLines(engine: Engine, place: Place, lines: readonly string[]): Promise<readonly string[]> {
  const said: string[] = [];
  for (const line of lines) {
    const text = await engine.must(filledIn(asHere(line, place.name), said), { cwd: place.path });
    if (line.endsWith(' up -d')) await place.ready();
    else
      assert.ok(
        [...text.matchAll(/^exit code: (\d+)$/gmu)].every(([, code]) => code === '0'),
        `${line}\n${text}`,
      );
    said.push(text);
  }
  return said;
}

/** With the digest of the last plan. */
export function filledIn(line: string, said: readonly string[]): string {
  const [, digest] = /^plan (\w+)\s*$/mu.exec(said.findLast((text) => /^plan \w+\s*$/mu.test(text)) ?? '') ?? [];
  assert.ok(digest !== undefined || !line.includes('<digest>'), `no plan before: ${line}`);
  return line.replace('<digest>', digest ?? '');
}
