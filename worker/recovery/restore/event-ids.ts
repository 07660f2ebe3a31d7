// Ids of items that hand an event to a subscriber: `event/<number>`. A restored state gives numbers again that the replaced one has given to other
// events. So an event of another timeline is named with it, `event/<number>@<epoch>`, and by its number alone where that timeline comes back.
import type { Row } from './carry.ts';
import { timelinesOf } from './lineage.ts';
import type { State } from './state-reader.ts';

const EVENT_ID = /^event\/(\d+)(?:@(.+))?$/;

/** The delivery id that an item of the state `from` has in the state `to`. */
export function idsBetween(from: State, to: State): (item: Row) => string {
  const [timelineFrom, timelineTo] = [timelinesOf(from), timelinesOf(to)];
  return ({ kind, delivery_id: delivery }) => {
    const id = String(delivery);
    const found = kind === 'event' ? EVENT_ID.exec(id) : null;
    if (found === null) return id;
    const event = Number(found[1]);
    const epoch = found[2] ?? timelineFrom(event);
    return epoch === undefined || timelineTo(event) === epoch ? `event/${event}` : `event/${event}@${epoch}`;
  };
}
