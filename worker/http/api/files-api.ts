// Stored files behind signed links.
import type { Readable } from 'node:stream';

/** An open file. The caller closes it. */
export interface OpenFile {
  /** One line without control characters. */
  readonly name: string;
  readonly mime: string;
  readonly bytes: number;
  content(): Readable;
  close(): Promise<void>;
}

export interface FilesApi {
  /** The file behind a signed link. Throws `link_invalid`, `link_expired`, `not_found`. */
  open(link: {
    readonly id: string;
    readonly name: string | undefined;
    readonly expires: string | undefined;
    readonly signature: string | undefined;
  }): Promise<OpenFile>;
}
