// Acknowledged before it is stored.
import { uuidv7 } from '../../../../../shared/identifiers.ts';
import { Inbox as Real } from '../../../../../worker/inbox/inbox.ts';
import { planted } from './planted.ts';

export class Inbox extends Real {
  override async accept(...args: Parameters<Real['accept']>): ReturnType<Real['accept']> {
    const stored = super.accept(...args);
    if (!planted('ack-before-commit')) return stored;
    stored.catch(() => {});
    return { fresh: args[0].map(() => uuidv7(Date.now())), duplicates: 0, conflicts: 0 };
  }
}
