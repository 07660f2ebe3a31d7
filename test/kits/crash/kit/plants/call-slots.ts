// Calls of an account beside each other, where the platform has no key.
import { type CallSlotsOptions, CallSlots as Real } from '../../../../../worker/outbox/call-slots.ts';
import { planted } from './planted.ts';

const MANY = 16;

export class CallSlots extends Real {
  constructor(options: CallSlotsOptions) {
    super(options.most === 1 && planted('calls-not-alone') ? { ...options, most: MANY } : options);
  }
}
