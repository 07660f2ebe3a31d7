// How a fake platform hands out a file that somebody has sent: whole, or as a test wants it.
import type { ServerResponse } from 'node:http';

export type FileAnswer = (
  response: ServerResponse,
  file: { readonly bytes: Uint8Array; readonly type: string },
) => void;

export const wholeFile: FileAnswer = (response, { bytes, type }) =>
  void response.writeHead(200, { 'content-type': type }).end(bytes);

/** The first half, with the length of the whole; then it is silent. `held` hears that it is. */
export const halfFile =
  (held: () => void): FileAnswer =>
  (response, { bytes, type }) => {
    response.writeHead(200, { 'content-type': type, 'content-length': bytes.length });
    response.write(bytes.subarray(0, bytes.length / 2), held);
  };

/** So many bytes are promised, and the first of them comes: whoever waits for more waits for good. */
export const promisedFile =
  (bytes: number): FileAnswer =>
  (response, { type }) => {
    response.writeHead(200, { 'content-type': type, 'content-length': bytes });
    response.write('x');
  };

/** Without a length, and for as long as somebody reads. `sent` hears of each chunk. */
export const endlessFile =
  (sent: (bytes: number) => void): FileAnswer =>
  (response, { type }) => {
    const chunk = Buffer.alloc(65_536, 'x');
    response.writeHead(200, { 'content-type': type });
    const goOn = (): void => {
      if (response.destroyed) return;
      sent(chunk.length);
      response.write(chunk, () => setImmediate(goOn));
    };
    goOn();
  };

export const elsewhere =
  (location: string): FileAnswer =>
  (response) =>
    void response.writeHead(302, { location }).end();
