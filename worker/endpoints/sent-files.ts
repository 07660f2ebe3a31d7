// Reads files for the sends of an account. If the host itself fails while reading (disk full, no file descriptor), the send ends with that failure.
// Adapters often wrap errors or report them as refusals by the platform, so their own result cannot be trusted here.

import { ownFailureIn } from '../core/own-failure.ts';
import type { FileSource } from '../files/file-source.ts';
import { errorCode } from '../sdk/errors.ts';
import type { FileContent, FileRef, SendResult } from '../sdk/index.ts';

/** A send under way. */
interface Send {
  failure: Error | undefined;
}

export class SentFiles {
  readonly #files: Pick<FileSource, 'read' | 'open'>;
  readonly #endpoint: string;
  /** Sends by the ids of their files. */
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

  /**
   * Makes a send. If one of these files could not be read, throws the host's failure. A send that the platform took or postponed keeps its result.
   */
  async during(files: readonly FileRef[], make: () => Promise<SendResult>): Promise<SendResult> {
    if (files.length === 0) return make();
    const send: Send = { failure: undefined };
    for (const { id } of files) this.#sends.set(id, (this.#sends.get(id) ?? new Set()).add(send));
    try {
      const result = await make();
      const { kind } = Object(result ?? {}) as Partial<SendResult>; // may be any value in plain JavaScript
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
