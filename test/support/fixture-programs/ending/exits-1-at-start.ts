// Dies before it says a word to its supervisor.
process.stderr.write('last words of a crash\n');
process.exit(1);
