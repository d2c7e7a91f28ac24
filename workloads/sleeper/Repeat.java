import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * Runs a program of Sleeper several times in one process, so that all but the first run are warm:
 * {@code Repeat CLASS ARGUMENTS;ARGUMENTS;...} with commas between the arguments of a run.
 */
public class Repeat {
    private Repeat() {
    }

    public static void main(String[] words) throws Exception {
        Method main = Class.forName(words[0]).getMethod("main", String[].class);
        for (String arguments : words[1].split(";")) {
            main.invoke(null, (Object) arguments.split(","));
        }
    }
}
