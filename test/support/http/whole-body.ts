// The body of a request to a fake platform, as a whole.

/** Undefined where the host was killed while it wrote: nothing was taken then. */
export async function wholeBody(request: AsyncIterable<unknown>): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  }
}
