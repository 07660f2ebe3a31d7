// A checkpoint of a host that goes on writing: what is read at the barrier is not of one moment.
import { GroupingWriter as Real } from '../../../../../worker/database/writer.ts';
import { planted } from './planted.ts';

export {
  type GroupRunner,
  inlineRunner,
  ThreadRunner,
  type WriterObserver,
} from '../../../../../worker/database/writer.ts';

export class GroupingWriter extends Real {
  override hold<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return planted('checkpoint-without-hold') ? work(new AbortController().signal) : super.hold(work);
  }
}
