package wirebench;

/** The counts of every method that is counted, by its number; several threads may lose a count to each other. */
public final class Counter {
    static final int MOST = 1 << 17;
    static final long[] units = new long[MOST];
    static final long[] calls = new long[MOST];

    private Counter() {}

    /** A method was called. */
    public static void call(int method) {
        calls[method]++;
    }

    /** A block of a method begins, with so many instructions. */
    public static void block(int method, int instructions) {
        units[method] += instructions;
    }
}
