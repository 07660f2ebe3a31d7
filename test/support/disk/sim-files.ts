// A disk that keeps what was synced and may keep or lose anything else: contents by page, names by folder. After a power cut each
// unsynced change is there or not, in every combination; an unsynced content may also be there in part.
import { dirname } from 'node:path';
import type { FilePort } from '../../../shared/files/file-port.ts';

interface Inode {
  /** What programs read now. */
  content: string;
  /** What is on the disk for sure. */
  durable: string;
}
type Names = ReadonlyMap<string, Inode>;
/** A change of names that the folder's sync has not reached yet. */
type NameChange = (names: Map<string, Inode>) => void;

export interface SimOptions {
  /** Syncs return without doing anything: a disk (or a program) that lies. */
  readonly lyingSync?: boolean;
  /** Throws ENOSPC at this call, counted from 1. */
  readonly failAt?: number;
}

export class SimFiles implements FilePort {
  /** Calls so far: a crash can be put after each. */
  calls = 0;
  readonly #options: SimOptions;
  readonly #crashAt: number;
  #names = new Map<string, Inode>();
  #durableNames: Names = new Map();
  #pending: NameChange[] = [];
  readonly #open = new Map<number, { readonly path: string; readonly inode: Inode | undefined }>();
  #next = 3;

  constructor(options: SimOptions = {}, crashAt = Number.POSITIVE_INFINITY) {
    this.#options = options;
    this.#crashAt = crashAt;
  }

  /** Puts a file there that has been on the disk for long. */
  seed(path: string, content: string): void {
    const inode = { content, durable: content };
    this.#names.set(path, inode);
    this.#durableNames = new Map(this.#names);
  }

  open(path: string, flags: 'r' | 'w'): number {
    this.#step();
    let inode = this.#names.get(path);
    if (flags === 'w') {
      if (inode === undefined) {
        const made: Inode = { content: '', durable: '' };
        inode = made;
        this.#rename((names) => void names.set(path, made));
      } else inode.content = '';
    }
    this.#next += 1;
    this.#open.set(this.#next, { path, inode });
    return this.#next;
  }

  write(file: number, text: string): void {
    this.#step();
    const inode = this.#open.get(file)?.inode;
    if (inode !== undefined) inode.content += text;
  }

  sync(file: number): void {
    this.#step();
    if (this.#options.lyingSync === true) return;
    const opened = this.#open.get(file);
    if (opened?.inode !== undefined) opened.inode.durable = opened.inode.content;
    else {
      this.#durableNames = new Map(this.#names);
      this.#pending = [];
    }
  }

  close(file: number): void {
    this.#step();
    this.#open.delete(file);
  }

  rename(from: string, to: string): void {
    this.#step();
    if (dirname(from) !== dirname(to)) throw new Error('EXDEV');
    const inode = this.#names.get(from);
    if (inode === undefined) throw new Error('ENOENT');
    this.#rename((names) => {
      names.delete(from);
      names.set(to, inode);
    });
  }

  remove(path: string): void {
    this.#rename((names) => void names.delete(path));
  }

  /** What a program reads while the power is on. */
  read(path: string): string | undefined {
    return this.#names.get(path)?.content;
  }

  /** Every content of the path that a power cut now may leave; undefined: no such file. */
  afterPowerCut(path: string): ReadonlySet<string | undefined> {
    const found = new Set<string | undefined>();
    // Changes of names reach the disk in order: any prefix of them may have.
    for (let kept = 0; kept <= this.#pending.length; kept += 1) {
      const names = new Map(this.#durableNames);
      for (const change of this.#pending.slice(0, kept)) change(names);
      const inode = names.get(path);
      if (inode === undefined) {
        found.add(undefined);
        continue;
      }
      found.add(inode.durable);
      for (let length = 0; length <= inode.content.length; length += 1)
        if (inode.durable !== inode.content) found.add(inode.content.slice(0, length));
    }
    return found;
  }

  #rename(change: NameChange): void {
    change(this.#names);
    this.#pending.push(change);
  }

  #step(): void {
    this.calls += 1;
    if (this.calls === this.#options.failAt)
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    if (this.calls > this.#crashAt) throw new PowerCut();
  }
}

export class PowerCut extends Error {
  constructor() {
    super('power cut');
  }
}
