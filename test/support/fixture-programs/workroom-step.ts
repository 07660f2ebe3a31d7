// For tests that kill it: opens items on a board whose journal is in files, a line each once it is answered; moves the journal; or erases an item.
import { failpointsOf } from '../../../shared/process/failpoints.ts';
import { convert } from '../../../worker/workroom/convert.ts';
import { erasableOf, erase } from '../../../worker/workroom/erase.ts';
import type { JournalStore } from '../../../worker/workroom/journal/journal.ts';
import { OPERATOR, openRoom, SETTINGS } from '../workroom/room.ts';

/** Small, so that a few events begin a segment. */
const SEALED_BYTES = 1_500;
const ITEMS = 12;

const [step = '', path = '', from = '', to = ''] = process.argv.slice(2);
const forGood = { after: () => {} };
const point = failpointsOf(process.env['SVC_FAILPOINTS']);
const store = (step === 'convert' ? from : 'file') as JournalStore;
const room = await openRoom(forGood, { path, store, point, sealedBytes: SEALED_BYTES });
if (step === 'convert') {
  const { folder, catalogFile } = room.files;
  await convert({ core: room.core, folder, catalogFile, reminding: SETTINGS }, to as JournalStore);
  room.kill();
} else if (step === 'erase') {
  const { core, workroom, files } = room;
  const command = { id: 'erase-1', cause: null };
  const journal = erasableOf(room.journal, { core, ...files });
  await erase({ core, workroom, journal, actor: OPERATOR, command }, { item: from });
  await room.close();
} else {
  await room.do(OPERATOR, { kind: 'board.add', board: 'web', name: 'Web site' }, 'board');
  for (let made = 0; made < ITEMS; made += 1) {
    const outcome = await room.do(OPERATOR, { kind: 'new', board: 'web', title: 'A piece of work' });
    if (outcome.kind === 'accepted') process.stdout.write(`${outcome.item}\n`);
  }
  await room.close();
}
