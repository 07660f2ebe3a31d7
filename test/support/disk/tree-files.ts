// A tree of files in which a rename is atomic, and on the disk for sure once both of its folders were synced. Until then a power cut keeps any of the
// unsynced changes of names. Changes of the same name keep their order.
import { dirname } from 'node:path';
import type { SwitchFiles } from '../../../shared/recovery/switch.ts';
import { PowerCut } from './sim-files.ts';

interface Change {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly content: string;
  /** Folders whose sync is missing. */
  readonly folders: Set<string>;
}

export class TreeFiles implements SwitchFiles {
  /** Number of calls after which the next one throws. */
  crashAt = Number.POSITIVE_INFINITY;
  #calls = 0;
  readonly #lyingFolders: boolean;
  #names = new Map<string, string>();
  /** Before the changes that are pending. */
  #durable = new Map<string, string>();
  #pending: Change[] = [];
  readonly #open = new Map<number, string>();
  #next = 3;

  /** `lyingFolders`: the sync of a folder does nothing. */
  constructor({ lyingFolders = false }: { readonly lyingFolders?: boolean } = {}) {
    this.#lyingFolders = lyingFolders;
  }

  seed(path: string, content: string): void {
    this.#names.set(path, content);
    this.#durable.set(path, content);
  }

  open(path: string, flags: 'r' | 'w'): number {
    this.#step();
    if (flags === 'w') this.#change({ from: undefined, to: path, content: '' });
    this.#next += 1;
    this.#open.set(this.#next, path);
    return this.#next;
  }

  /** What is written is on the disk: the atomic write has a test of its own. */
  write(file: number, text: string): void {
    this.#step();
    const path = this.#open.get(file) ?? '';
    this.#change({ from: undefined, to: path, content: text });
  }

  sync(file: number): void {
    this.#step();
    const path = this.#open.get(file) ?? '';
    if (this.#names.has(path) || this.#lyingFolders) return;
    for (const { folders } of this.#pending) folders.delete(path);
    while (this.#pending[0]?.folders.size === 0) apply(this.#durable, this.#pending.splice(0, 1));
  }

  close(file: number): void {
    this.#open.delete(file);
  }

  rename(from: string, to: string): void {
    this.#step();
    const content = this.#names.get(from);
    if (content === undefined) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall: 'rename' });
    this.#change({ from, to, content });
  }

  remove(path: string): void {
    this.#step();
    if (this.#names.has(path)) this.#change({ from: path, to: undefined, content: '' });
  }

  read(path: string): string {
    const content = this.#names.get(path);
    if (content === undefined) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    return content;
  }

  exists(path: string): boolean {
    return this.#names.has(path);
  }

  moveAcross(): void {
    throw new Error('one file system');
  }

  removeFolder(): void {}

  /** Names with their contents, without those of atomic writes under way. */
  contents(): Record<string, string> {
    const shown = [...this.#names].filter(([path]) => !path.endsWith('.tmp'));
    return Object.fromEntries(shown.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** As it is read after a kill of the process: nothing is lost. What is pending stays so. */
  asKilled(): TreeFiles {
    const left = new TreeFiles({ lyingFolders: this.#lyingFolders });
    left.#names = new Map(this.#names);
    left.#durable = new Map(this.#durable);
    left.#pending = this.#pending.map((change) => ({ ...change, folders: new Set(change.folders) }));
    return left;
  }

  /** Every tree that a power cut may leave now. */
  afterPowerCut(): TreeFiles[] {
    const found = new Map<string, TreeFiles>();
    const choices = 2 ** Math.min(this.#pending.length, 12);
    for (let choice = 0; choice < choices; choice += 1) {
      const kept = this.#pending.filter((change, index) => change.folders.size === 0 || (choice >> index) % 2 === 1);
      if (!isInOrder(this.#pending, kept)) continue;
      const names = new Map(this.#durable);
      apply(names, kept);
      const left = new TreeFiles();
      for (const [path, content] of names) left.seed(path, content);
      found.set(JSON.stringify([...names].toSorted(([one], [other]) => (one < other ? -1 : 1))), left);
    }
    return [...found.values()];
  }

  #change(change: Omit<Change, 'folders'>): void {
    const folders = [change.from, change.to].flatMap((path) => (path === undefined ? [] : [dirname(path)]));
    this.#pending.push({ ...change, folders: new Set(folders) });
    apply(this.#names, [change]);
  }

  #step(): void {
    if (this.#calls >= this.crashAt) throw new PowerCut();
    this.#calls += 1;
  }
}

function apply(names: Map<string, string>, changes: readonly Omit<Change, 'folders'>[]): void {
  for (const { from, to, content } of changes) {
    if (from !== undefined) names.delete(from);
    if (to !== undefined) names.set(to, content);
  }
}

/** A change is kept only with the earlier ones of the same names. */
function isInOrder(all: readonly Change[], kept: readonly Change[]): boolean {
  return kept.every((change) =>
    all
      .slice(0, all.indexOf(change))
      .filter((earlier) =>
        [earlier.from, earlier.to].some((path) => path !== undefined && [change.from, change.to].includes(path)),
      )
      .every((earlier) => kept.includes(earlier)),
  );
}
