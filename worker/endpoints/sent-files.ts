// Files as an account reads them for its sends. What the host itself fails at while one is read (no room, no descriptor) is the answer to that send,
// whatever its adapter makes of it: many wrap what a call failed with, or say that the platform refused it.

import { ownFailureIn } from '../core/own-failure.ts';
import type { FileSource } from '../files/file-source.ts';
import { errorCode } from '../sdk/errors.ts';
import type { FileContent, FileRef, SendResult } from '../sdk/index.ts';

/** A send that is being made. */
interface Send {
  failure: Error | undefined;
}

export class SentFiles {
  readonly #files: Pick<FileSource, 'read' | 'open'>;
  readonly #endpoint: string;
  /** By the id of a file of theirs. */
  readonly #sends = new Map<string, Set<Send>>();

  constructor(files: Pick<FileSource, 'read' | 'open'>, endpoint: string) {
    this.#files = files;
    this.#endpoint = endpoint;
  }

  read(file: FileRef): Promise<Uint8Array<ArrayBuffer>> {
    return this.#files.read(file, this.#endpoint).catch((error: unknown) => this.#failed(file, error));
  }

  async open(file: FileRef): Promise<FileContent> {
    const opened = await this.#files.open(file, this.#endpoint).catch((error: unknown) => this.#failed(file, error));
    return { ...opened, content: () => this.#content(file, opened) };
  }

  /** Throws a failure of ours where one of these files could not be read for it and the platform did not take it, nor ask to wait. */
  async during(files: readonly FileRef[], make: () => Promise<SendResult>): Promise<SendResult> {
    if (files.length === 0) return make();
    const send: Send = { failure: undefined };
    for (const { id } of files) this.#sends.set(id, (this.#sends.get(id) ?? new Set()).add(send));
    try {
      const result = await make();
      const { kind } = Object(result ?? {}) as Partial<SendResult>; // of plain JavaScript it may be anything
      if (send.failure === undefined || kind === 'sent' || kind === 'later') return result;
    } catch (error) {
      if (send.failure === undefined || errorCode(error) === 'account_failed') throw error;
    } finally {
      for (const { id } of files) this.#forget(id, send);
    }
    throw send.failure;
  }

  async *#content(file: FileRef, { content }: FileContent): AsyncGenerator<Uint8Array> {
    try {
      yield* content();
    } catch (error) {
      this.#failed(file, error);
    }
  }

  #failed({ id }: FileRef, error: unknown): never {
    const failure = ownFailureIn(error);
    if (failure !== undefined) for (const send of this.#sends.get(id) ?? []) send.failure = failure;
    throw error;
  }

  #forget(id: string, send: Send): void {
    const sends = this.#sends.get(id);
    sends?.delete(send);
    if (sends?.size === 0) this.#sends.delete(id);
  }
}
