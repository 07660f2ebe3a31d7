// Faults behind the outbox: of what the bot said the platform shows each tenth twice, or never, though the host was told that it was taken.
import type { OpenPlatform } from './platform.ts';

export type Behind = 'doubled' | 'lost';

const EACH = 10;

export function distorted(platform: OpenPlatform, behind: Behind): OpenPlatform['answers'] {
  const answers = platform.answers.bind(platform);
  const shown: string[] = [];
  let read = 0;
  return (from) => {
    for (const text of answers(read)) {
      read += 1;
      const isHit = read % EACH === 0;
      if (!isHit || behind === 'doubled') shown.push(text);
      if (isHit && behind === 'doubled') shown.push(text);
    }
    return shown.slice(from);
  };
}
