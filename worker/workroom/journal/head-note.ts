// Notes the head of the journal outside of it, in log and events: whoever writes the whole chain anew cannot take an old head back.
import type { Core } from '../../core/core.ts';
import { recordEvents } from '../../events/event-history.ts';
import { readHead } from '../read-catalog.ts';

/** Notes the head if it has moved since `noted`. Returns the number that is noted now. */
export async function noteHead(core: Core, noted: number): Promise<number> {
  const head = await readHead(core.reader);
  if (head.seq <= noted) return noted;
  const event = {
    type: 'workroom.head_noted',
    at: core.clock.now(),
    runtimeId: core.runtimeId,
    data: { ...head },
  } as const;
  await core.writer.commit({ name: 'workroom.head_noted', statements: recordEvents([event]) });
  core.log.info({ seq: head.seq, hash: head.hash }, 'head of the Workroom journal');
  return head.seq;
}
