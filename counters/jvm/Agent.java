package wirebench;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Counts the bytecodes that each method of the sources below one folder executes, and writes them when the process ends. */
public final class Agent implements ClassFileTransformer {
    private static final Set<String> ENDINGS = Set.of("java", "kt", "scala", "groovy");
    private static final Set<String> OTHERS = Set.of("target", "build", "out", "node_modules");

    /** The source files, by their name. */
    private final Map<String, List<Path>> sources = new HashMap<>();
    private final List<Method> methods = new ArrayList<>();
    private final Rewriter rewriter;

    private Agent(Rewriter rewriter) {
        this.rewriter = rewriter;
    }

    /** A method that is counted, with its first and last line; a lambda is not called by the name that it has here. */
    private record Method(String name, boolean isLambda, Path file, int first, Integer last) {}

    /** Adds the counting to one class. */
    interface Rewriter {
        /** The class with the counting; `number` gives a method its number, from its name and the lines of its code, or -1. */
        byte[] rewrite(byte[] bytes, ClassLoader loader, Numbers numbers);

        /** The name of the source file that a class was compiled from, or null. */
        String source(byte[] bytes);
    }

    /** Gives methods their numbers. */
    interface Numbers {
        int of(String name, int[] lines);
    }

    public static void premain(String options, Instrumentation instrumentation) throws Exception {
        String out = System.getenv("WIREBENCH_COUNT_OUT");
        String root = System.getenv("WIREBENCH_COUNT_ROOT");
        if (out == null || root == null) {
            return;
        }
        Agent agent = new Agent(rewriter());
        agent.find(Path.of(root));
        instrumentation.addTransformer(agent);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> agent.write(Path.of(out))));
    }

    private void find(Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = String.valueOf(folder.getFileName());
                boolean skip = !folder.equals(root) && (name.startsWith(".") || OTHERS.contains(name));
                return skip ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                String name = file.getFileName().toString();
                if (ENDINGS.contains(name.substring(name.lastIndexOf('.') + 1))) {
                    sources.computeIfAbsent(name, key -> new ArrayList<>()).add(file);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException error) {
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** The source of a class: the only file of that name, or the one in the folder of its package. */
    private Path source(String className, String name) {
        List<Path> named = name == null ? List.of() : sources.getOrDefault(name, List.of());
        String inPackage = className.substring(0, className.lastIndexOf('/') + 1) + name;
        return named.stream().filter(file -> named.size() == 1 || file.endsWith(inPackage)).findFirst().orElse(null);
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
        if (loader == null || name == null || old != null) {
            return null;
        }
        try {
            Path file = source(name, rewriter.source(bytes));
            if (file == null) {
                return null;
            }
            String shown = name.substring(name.lastIndexOf('/') + 1).replace('$', '.');
            return rewriter.rewrite(bytes, loader, (method, lines) -> number(shown, method, file, lines));
        } catch (Throwable error) {
            // The class runs uncounted.
            System.err.println("wirebench: " + name + " is not counted: " + error);
            return null;
        }
    }

    private static Rewriter rewriter() throws ReflectiveOperationException {
        boolean hasAsm = ClassLoader.getSystemResource("wirebench/AsmRewriter.class") != null;
        String name = hasAsm ? "wirebench.AsmRewriter" : "wirebench.ClassFileRewriter";
        return (Rewriter) Class.forName(name).getDeclaredConstructor().newInstance();
    }

    private synchronized int number(String type, String method, Path file, int[] lines) {
        if (methods.size() == Counter.MOST) {
            return -1;
        }
        // A lambda counts for the method around it: lambda$NAME$0 of Java, NAME$lambda$0 of Kotlin.
        String named = method.replaceFirst("^lambda\\$(.+)\\$\\d+$|^(.+?)\\$lambda\\$.*$", "$1$2");
        // A constructor holds the first values of fields, which may stand anywhere in the class.
        boolean hasEnd = lines.length > 0 && !method.startsWith("<");
        int first = lines.length > 0 ? lines[0] : 1;
        Integer last = hasEnd ? Arrays.stream(lines).max().getAsInt() : null;
        methods.add(new Method(type + "." + named.replace("<init>", "new"), !named.equals(method), file, first, last));
        return methods.size() - 1;
    }

    private synchronized void write(Path out) {
        Path file = out.resolve(ProcessHandle.current().pid() + ".json");
        try (PrintWriter writer = new PrintWriter(Files.newBufferedWriter(file))) {
            for (int number = 0; number < methods.size(); number++) {
                Method method = methods.get(number);
                if (Counter.units[number] > 0) {
                    writer.printf("{\"name\":%s,\"file\":%s,\"line\":%d,\"last\":%d,\"count\":%d,\"calls\":%d}%n",
                        quoted(method.name()), quoted(method.file().toString()), method.first(), method.last(),
                        Counter.units[number], method.isLambda() ? 0 : Counter.calls[number]);
                }
            }
        } catch (IOException error) {
            System.err.println("wirebench: the counts cannot be written: " + error);
        }
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
