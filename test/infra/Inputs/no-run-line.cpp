int *First = nullptr;
