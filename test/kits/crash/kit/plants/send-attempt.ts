// A send that is taken for sent before the platform has it; another key at each attempt.
import { finishSend } from '../../../../../worker/outbox/outbox-store.ts';
import { SendAttempt as Real } from '../../../../../worker/outbox/send-attempt.ts';
import type { SendSurface, SurfaceState } from '../../../../../worker/outbox/send-surface.ts';
import type { SenderOptions } from '../../../../../worker/outbox/sender-options.ts';
import { planted } from './planted.ts';

type Arguments = ConstructorParameters<typeof Real>;

export class SendAttempt extends Real {
  constructor(...[options, pace, turn]: Arguments) {
    super({ ...options, surface: (endpoint) => distorted(options, endpoint, turn.item.id) }, pace, turn);
  }
}

function distorted({ core, surface }: SenderOptions, endpoint: string, id: string): SurfaceState {
  const state = surface(endpoint);
  if (state.kind !== 'ready') return state;
  const { surface: platform } = state;
  const send: SendSurface['send'] = async (call) => {
    if (planted('sent-before-call')) {
      const statements = [finishSend({ id, message: null, at: 0, attempts: 1 })];
      await core.writer.commit({ name: 'outbox.sent', statements });
    }
    return platform.send(planted('key-of-attempt') ? { ...call, key: `${call.key}-${core.clock.now()}` } : call);
  };
  return { ...state, surface: { ...platform, send } };
}
